//! `POST /registrations/{courseId}/certificates`: issues the certificates of a course. Calling again issues nothing twice.

use std::collections::BTreeSet;

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, FieldError, Fields, Input, InvalidField, Message, Now, Path,
    Permitted, course_rights::issuable, flag, input, rights::PublishCourses, success,
};
use domain::{
    CourseId, Instant, UserId,
    attendance::CourseSession,
    audit::{Action, AuditedAction, values},
    certificate::{
        Candidate, Certificate, CertificateCode, CertificateNotice, CertificateRules,
        CertificateStatus, Issue, Refusal,
    },
    committee::Committee,
    registration::RegistrationState,
    user::User,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use identity::random;
use serde::Serialize;
use storage::EXPORT_TIME;
use store::{Attendee, CourseTerms, with_time_limit};

use crate::Registrations;

/// Most people who can be named, and most certificates that one request issues.
const MAX_ISSUED: usize = 500;
/// People who are read by one request to the store.
const BATCH: usize = 33;
/// Such requests, and certificates that are stored, at once.
const AT_ONCE: usize = 8;

input! {
    pub(crate) struct IssueRequest: 262_144 {
        selection: Selection = group(selection),
        /// Whether nothing is stored.
        is_dry_run: bool = optional_or("dryRun", flag, false),
    }
}

/// For whom certificates are requested.
struct Selection {
    /// `None`: all who are confirmed.
    users: Option<Vec<UserId>>,
    /// Whether too few minutes are enough.
    overrides: bool,
}

fn selection(fields: &mut Fields) -> Result<Selection, InvalidField> {
    let users = users(fields);
    let overrides = fields.optional_or("override", flag, false);
    if let (Ok(None), Ok(true)) = (&users, overrides) {
        fields.reject("override", ErrorCode::FieldValue);
    }
    Ok(Selection { users: users?, overrides: overrides? })
}

fn users(fields: &mut Fields) -> Result<Option<Vec<UserId>>, InvalidField> {
    const FIELD: &str = "userIDs";
    let Some(users) = fields.texts(FIELD, Some(1), MAX_ISSUED)? else {
        return Ok(None);
    };
    let mut different = BTreeSet::new();
    let repeated = users.iter().position(|user: &UserId| !different.insert(*user));
    if users.is_empty() {
        fields.reject(FIELD, ErrorCode::FieldRequired);
    } else if let Some(place) = repeated {
        fields.reject(&format!("{FIELD}[{place}]"), ErrorCode::FieldValue);
    }
    Ok(Some(users))
}

#[derive(Serialize)]
pub(crate) struct IssueResponse {
    issued: usize,
    already: usize,
    /// Who can get a certificate by another request.
    remaining: usize,
    refused: RefusedCounts,
    results: Vec<ResultView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefusedCounts {
    not_confirmed: usize,
    not_marked: usize,
    not_enough: usize,
    name_not_printable: usize,
}

#[derive(Serialize)]
struct ResultView {
    #[serde(rename = "userID")]
    user_id: UserId,
    result: &'static str,
    /// `None` when refused, and when nothing is stored.
    code: Option<CertificateCode>,
    /// Why it was refused.
    #[serde(rename = "RESPONSE_CODE")]
    refusal: Option<&'static str>,
    /// The characters of the name that cannot be printed.
    characters: Option<Vec<char>>,
}

/// What becomes of a person.
enum Outcome {
    /// They get a certificate.
    Issued(Option<CertificateCode>),
    /// They have one.
    Already(CertificateCode),
    Refused(Refusal),
}

/// A person with what decides about their certificate.
struct Person {
    user_id: UserId,
    attendee: Option<Attendee>,
    /// Their latest certificate of the course.
    latest: Option<Certificate>,
}

/// A request with what decides about it.
struct Call<'a> {
    registrations: &'a Registrations,
    terms: &'a CourseTerms,
    committee: &'a Committee,
    rules: &'a CertificateRules,
    overrides: bool,
    now: Instant,
}

/// Who has become eligible since they were read is not issued one.
pub(crate) async fn issue(
    State(registrations): State<Registrations>,
    Now(now): Now,
    publisher: Permitted<PublishCourses>,
    Path(id): Path<CourseId>,
    Input(request): Input<IssueRequest>,
) -> ApiResult<IssueResponse> {
    let terms = registrations.course(id, &publisher.person, issuable).await?;
    let rules = terms.settings.certificate.as_ref().ok_or(ErrorCode::CertificatesDisabled)?;
    let ends = terms.sessions.sessions.held().map(|session: &CourseSession| session.end_at);
    let end = ends.max().ok_or(ErrorCode::CourseWithoutSessions)?;
    if end > now {
        return Err(ErrorCode::CourseNotEnded.into());
    }
    if terms.settings.cancelled_at.is_some() {
        return Err(ErrorCode::CourseCancelled.into());
    }
    let committee = registrations.store.committee(terms.course.summary.committee_id).await?;
    let committee = &committee.ok_or(ErrorCode::CourseNotFound)?;
    let call = Call {
        registrations: &registrations,
        terms: &terms,
        committee,
        rules,
        overrides: request.selection.overrides,
        now,
    };
    call.require_printable()?;
    success(
        Message::CertificatesIssued,
        with_time_limit(EXPORT_TIME, call.results(&request, &publisher.person.user)).await?,
    )
}

impl Call<'_> {
    fn issue(&self) -> Issue<'_> {
        let (course, sessions) = (&self.terms.course.summary, &self.terms.sessions.sessions);
        Issue { course, sessions, committee: self.committee, rules: self.rules }
    }

    /// # Errors
    /// `CERTIFICATES_NOT_PRINTABLE_MESSAGE` with an error for each text that cannot be printed.
    fn require_printable(&self) -> Result<(), ApiError> {
        let code = ErrorCode::CertificatesNotPrintable;
        let error = |(field, characters)| FieldError::of_characters(field, code, characters);
        let errors: Vec<FieldError> = self.issue().unprintable().into_iter().map(error).collect();
        if errors.is_empty() { Ok(()) } else { Err(ApiError::with_errors(code, errors)) }
    }

    /// Decides on all people of `request` by `actor`, and issues the certificates unless it is a dry run.
    async fn results(
        &self,
        request: &IssueRequest,
        actor: &User,
    ) -> Result<IssueResponse, ApiError> {
        let Self { registrations, terms, now, .. } = *self;
        let course = &terms.course.summary;
        let users = match &request.selection.users {
            Some(users) => users.clone(),
            None => {
                let states = [RegistrationState::Confirmed];
                let cards = registrations.cards(course.course_id, &states).await?;
                cards.into_iter().map(|card| card.user_id).collect()
            }
        };
        let (mut outcomes, mut to_issue, mut remaining) = (Vec::new(), 0, 0);
        for person in self.people(users).await? {
            let (user_id, outcome) = (person.user_id, self.outcome(&person));
            if matches!(outcome, Outcome::Issued(_)) {
                if to_issue == MAX_ISSUED {
                    remaining += 1;
                    continue;
                }
                to_issue += 1;
                outcomes.push((user_id, outcome, Some(person)));
            } else {
                outcomes.push((user_id, outcome, None));
            }
        }
        if !request.is_dry_run && to_issue > 0 {
            // Before the first certificate is stored.
            let mut tx = registrations.store.transaction();
            let values =
                values([("certificates", to_issue.into()), ("override", self.overrides.into())]);
            let issued = AuditedAction::of_course(Action::CertificatesIssued, course, values);
            tx.record_audit(&issued.by(actor, random::id(now), now));
            tx.commit().await?.expect_committed()?;
        }
        let results = outcomes.into_iter().map(|(user_id, outcome, person)| async move {
            let outcome = match person.filter(|_| !request.is_dry_run) {
                Some(person) => self.issued(person).await?,
                None => outcome,
            };
            Ok::<_, ApiError>(ResultView::new(user_id, outcome))
        });
        // Collected, because the compiler does not see that closures over references live long enough.
        let results: Vec<_> = results.collect();
        let results: Vec<ResultView> =
            stream::iter(results).buffered(AT_ONCE).try_collect().await?;
        Ok(IssueResponse::new(results, remaining))
    }

    /// `users` with what decides about them, in that order.
    async fn people(&self, users: Vec<UserId>) -> Result<Vec<Person>, ApiError> {
        let batches: Vec<Vec<UserId>> = users.chunks(BATCH).map(<[UserId]>::to_vec).collect();
        let batches = batches.into_iter().map(|users| self.batch(users));
        let people: Vec<Vec<Person>> =
            stream::iter(batches).buffered(AT_ONCE).try_collect().await?;
        Ok(people.into_iter().flatten().collect())
    }

    async fn batch(&self, users: Vec<UserId>) -> Result<Vec<Person>, ApiError> {
        let store = &self.registrations.store;
        let attendees = store.attendees(self.terms.course.summary.course_id, &users).await?;
        let code = |attendee: &Option<Attendee>| attendee.as_ref()?.stored.certificate.clone();
        let codes: Vec<_> = attendees.iter().map(code).collect();
        let latest = store.certificates(&codes).await?;
        let people = users.into_iter().zip(attendees).zip(latest);
        let person = |((user_id, attendee), latest)| Person { user_id, attendee, latest };
        Ok(people.map(person).collect())
    }

    fn outcome(&self, person: &Person) -> Outcome {
        let is_valid = |one: &&Certificate| one.status(self.now) == CertificateStatus::Valid;
        if let Some(valid) = person.latest.as_ref().filter(is_valid) {
            return Outcome::Already(valid.snapshot.code.clone());
        }
        let refusal = match &person.attendee {
            Some(attendee) => self.issue().refusal(candidate(attendee), self.overrides),
            None => Some(Refusal::NotConfirmed),
        };
        refusal.map_or(Outcome::Issued(None), Outcome::Refused)
    }

    /// Issues the certificate of `person`, unless something has changed since they were read: then it is decided again.
    async fn issued(&self, person: Person) -> Result<Outcome, ApiError> {
        let (store, user_id) = (&self.registrations.store, person.user_id);
        let mut read = Some(person);
        let attempt = || {
            let read = read.take();
            async move {
                let person = match read {
                    Some(person) => Some(person),
                    None => self.batch(vec![user_id]).await?.pop(),
                };
                let mut tx = store.transaction();
                let Some(person) = person else {
                    return Ok((tx, Outcome::Refused(Refusal::NotConfirmed)));
                };
                let outcome = self.outcome(&person);
                let Some(attendee) =
                    person.attendee.filter(|_| matches!(outcome, Outcome::Issued(_)))
                else {
                    return Ok((tx, outcome));
                };
                let code = CertificateCode::new(random::bytes());
                let certificate =
                    self.issue().certificate(code.clone(), candidate(&attendee), self.now);
                let Attendee { registration, stored, user } = &attendee;
                let forget_at = self.now.after(self.registrations.certificate_retention);
                tx.add_certificate(&certificate, registration, stored, forget_at);
                let language = certificate.language;
                let notice = CertificateNotice { code: code.clone(), is_revoked: false, language };
                let outbox = &self.registrations.outbox;
                tx.send_at_rate(&outbox.notify_certificate(user, notice, self.now)?);
                Ok::<_, ApiError>((tx, Outcome::Issued(Some(code))))
            }
        };
        store.update(attempt, |_| None).await
    }
}

fn candidate(Attendee { registration, stored, user }: &Attendee) -> Candidate<'_> {
    Candidate { registration, user, marks: &stored.marks }
}

impl IssueResponse {
    fn new(results: Vec<ResultView>, remaining: usize) -> Self {
        let count = |is: &dyn Fn(&ResultView) -> bool| results.iter().filter(|one| is(one)).count();
        let refused = |error: ErrorCode| count(&|one| one.refusal == Some(error.code()));
        Self {
            issued: count(&|one| one.result == ISSUED),
            already: count(&|one| one.result == ALREADY),
            remaining,
            refused: RefusedCounts {
                not_confirmed: refused(ErrorCode::RegistrationNotConfirmed),
                not_marked: refused(ErrorCode::NotMarked),
                not_enough: refused(ErrorCode::NotEnough),
                name_not_printable: refused(ErrorCode::NameNotPrintable),
            },
            results,
        }
    }
}

const ISSUED: &str = "ISSUED";
const ALREADY: &str = "ALREADY";

impl ResultView {
    fn new(user_id: UserId, outcome: Outcome) -> Self {
        let (result, code, refusal, characters) = match outcome {
            Outcome::Issued(code) => (ISSUED, code, None, None),
            Outcome::Already(code) => (ALREADY, Some(code), None, None),
            Outcome::Refused(reason) => {
                let (error, characters) = match reason {
                    Refusal::NotConfirmed => (ErrorCode::RegistrationNotConfirmed, None),
                    Refusal::NotMarked => (ErrorCode::NotMarked, None),
                    Refusal::NotEnough => (ErrorCode::NotEnough, None),
                    Refusal::NameNotPrintable(missing) => {
                        (ErrorCode::NameNotPrintable, Some(missing))
                    }
                };
                ("REFUSED", None, Some(error.code()), characters)
            }
        };
        Self { user_id, result, code, refusal, characters }
    }
}
