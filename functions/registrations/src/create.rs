//! `POST /registrations/{courseId}`: registers the caller. The state in the response is final: a confirmed person has a
//! seat.

use std::time::Duration;

use axum::extract::State;
use common::{
    ActiveMember, ApiError, ApiResult, ErrorCode, FieldError, Input, InvalidValue, Message, Now,
    Path, SignedIn, availability::require_audience, course_rights::visible, flag, input, success,
    text,
};
use data_encoding::HEXLOWER;
use domain::{
    Constraint, CourseId, Hint, Instant, ValueError,
    attendance::Ticket,
    course::Language,
    question::Question,
    registration::{
        Admission, Answer, Clearing, MAX_REGISTRATIONS, MAX_TIMES, Mode, Registration,
        RegistrationEvent, RegistrationState, Status, answered, form_language,
    },
};
use identity::random;
use sha2::{Digest, Sha256};
use store::{CourseTerms, FullRegistration, SeatRule, Standing, Transaction, with_deadline};
use tokio::sync::OnceCell;

use crate::{
    Registrations,
    access::{VisibleRegistration, reader},
    answers::{Form, SubmittedAnswers, submitted_answers},
    moving::Move,
    view::RegistrationResponse,
};

/// How long a registration is tried while others change the same seats: when a course opens, hundreds of people may register
/// at once.
pub const RUSH_TIME: Duration = Duration::from_secs(20);

input! {
    /// All answers fit also when each letter is escaped.
    pub(crate) struct RegisterRequest: 262_144 {
        answers: SubmittedAnswers = group(submitted_answers),
        language: Option<Language> = optional("language", text),
        consent: bool = optional_or("consent", flag, false),
    }
}

/// What decides whether the caller can register.
struct Applicant<'a> {
    person: &'a SignedIn,
    standing: Standing,
    course: CourseTerms,
    questions: Vec<Question>,
    /// Whether the committee of the course is active.
    is_open: bool,
}

/// A person who is registered already gets the stored registration, whatever the request says: a second click or an old
/// tab changes nothing.
pub(crate) async fn create(
    State(registrations): State<Registrations>,
    Now(now): Now,
    ActiveMember(person): ActiveMember,
    Path(id): Path<CourseId>,
    Input(request): Input<RegisterRequest>,
) -> ApiResult<RegistrationResponse> {
    let number = OnceCell::new();
    let attempt = || async {
        let applicant = registrations.applicant(id, &person).await?;
        let own = applicant.standing.own.clone();
        if let Some(full) = own.filter(|own| own.registration.card.state.is_active()) {
            let tx = registrations.store.transaction();
            return Ok((tx, (Message::AlreadyRegistered, applicant.visible_registration(full))));
        }
        let (language, answers) = registrations.check_form(&request, &applicant).await?;
        let state = registrations.decide_state(&applicant, now).await?;
        let number = *number.get_or_try_init(|| registrations.store.next_number(id)).await?;
        let ticket = Ticket::new(random::bytes());
        let full =
            applicant.registration(Admission { number, state, ticket }, language, answers, now);
        let tx = registrations.transaction(&applicant, &full, now)?;
        Ok::<_, ApiError>((tx, (message(state), applicant.visible_registration(full))))
    };
    let stored = registrations.store.update(attempt, |_| None);
    let (message, found) = with_deadline(RUSH_TIME, stored).await?;
    success(message, registrations.response(found, now).await?)
}

fn message(state: RegistrationState) -> Message {
    match state {
        RegistrationState::Confirmed => Message::RegistrationConfirmed,
        RegistrationState::Waitlisted => Message::RegistrationWaitlisted,
        _ => Message::RegistrationPending,
    }
}

impl Registrations {
    /// Reads what decides, the seats first: a change of the course after that raises their revision, so that the transaction
    /// fails.
    ///
    /// # Errors
    /// `COURSE_NOT_FOUND_MESSAGE`, or `REGISTRATION_AUDIENCE_MESSAGE`.
    async fn applicant<'a>(
        &self,
        id: CourseId,
        person: &'a SignedIn,
    ) -> Result<Applicant<'a>, ApiError> {
        let standing = self.store.standing(id, &person.user).await?;
        let mut full = self.store.full_course(id).await?.ok_or(ErrorCode::CourseNotFound)?;
        full.course = visible(Some(full.course), person)?;
        let (course, questions) = full.into_terms();
        require_audience(&course.course.summary, &course.settings, person)?;
        let is_open = self.is_open(course.course.summary.committee_id, person).await?;
        Ok(Applicant { person, standing, course, questions, is_open })
    }

    /// The language and the answers of the form, if the request is complete.
    ///
    /// # Errors
    /// Those of all fields.
    async fn check_form(
        &self,
        request: &RegisterRequest,
        applicant: &Applicant<'_>,
    ) -> Result<(Language, Vec<Answer>), ApiError> {
        let Applicant { course, questions, person, .. } = applicant;
        let wanted = request.language.as_ref();
        let language = form_language(questions, wanted, &course.course.summary.language);
        let is_missing = course.settings.consent_text.is_some() && !request.consent;
        let consent = is_missing.then(|| {
            let constraint =
                Constraint { hint: Some(Hint::Consent), ..Constraint::allowed([true]) };
            FieldError::new("consent", InvalidValue::new(ValueError::Required, constraint))
        });
        let language = match language {
            Ok(language) => language,
            Err(error) => {
                let errors = [Some(FieldError::new("language", error)), consent];
                return Err(ApiError::fields(errors.into_iter().flatten().collect()));
            }
        };
        let (owner, submitted) = (person.user.user_id, &request.answers);
        let form = Form { questions, language: &language };
        let answers =
            self.merged_answers(owner, form, &[], submitted, Clearing::Never, consent).await?;
        Ok((language, answers))
    }

    /// The state that a registration gets now.
    ///
    /// # Errors
    /// The first reason why there is none.
    async fn decide_state(
        &self,
        applicant: &Applicant<'_>,
        now: Instant,
    ) -> Result<RegistrationState, ApiError> {
        let Applicant { standing, course, is_open, person, .. } = applicant;
        let (summary, settings) = (&course.course.summary, &course.settings);
        let code = match settings.status(summary, &standing.seats, *is_open, now) {
            Status::Cancelled => Some(ErrorCode::CourseCancelled),
            Status::Disabled => Some(ErrorCode::RegistrationDisabled),
            Status::NotOpen => Some(ErrorCode::RegistrationNotOpen),
            Status::Closed => Some(ErrorCode::RegistrationClosed),
            Status::Open | Status::Waitlist | Status::Full => None,
        };
        if let Some(code) = code {
            return Err(code.into());
        }
        let own = standing.own.as_ref().map(|own| &own.registration);
        if own.is_some_and(|own| own.card.state == RegistrationState::Rejected) {
            return Err(ErrorCode::RegistrationRejected.into());
        }
        let is_at_limit = match own {
            Some(own) => own.details.times >= MAX_TIMES,
            None => standing.seats.registered >= MAX_REGISTRATIONS,
        };
        if is_at_limit {
            return Err(ErrorCode::RegistrationsLimit.into());
        }
        if standing.active >= self.max_active {
            self.require_few_registrations(person.user.user_id, now).await?;
        }
        if settings.mode == Mode::Manual {
            return Ok(RegistrationState::Pending);
        }
        let list_limit = settings.list_limit(summary, now);
        Ok(standing.seats.place(list_limit).ok_or(ErrorCode::CourseFull)?)
    }

    /// The transaction that stores the registration `full`.
    fn transaction(
        &self,
        applicant: &Applicant<'_>,
        full: &FullRegistration,
        now: Instant,
    ) -> Result<Transaction, ApiError> {
        let Applicant { standing, course, person, .. } = applicant;
        let before = standing.own.as_ref();
        let list_limit = course.settings.list_limit(&course.course.summary, now);
        let change = Move {
            course,
            user: &person.user,
            before: before.map(|before| &before.registration),
            after: &full.registration,
            rule: SeatRule::Newcomer { list_limit, revision: standing.seats.revision },
            event: RegistrationEvent::Registered,
        };
        let mut tx = self.moved(&change, now)?;
        let former = before.map_or(0, |before| before.answers_version);
        if former > 0 || !full.answers.is_empty() {
            tx.set_answers(&full.registration, &full.answers, former);
        }
        Ok(tx)
    }
}

impl Applicant<'_> {
    fn registration(
        &self,
        admission: Admission,
        language: Language,
        answers: Vec<Answer>,
        now: Instant,
    ) -> FullRegistration {
        let own = self.standing.own.as_ref().map(|own| &own.registration);
        let (course_id, user) = (self.course.course.summary.course_id, &self.person.user);
        let mut registration = Registration::new(own, course_id, user, admission, now);
        registration.card.language = language;
        registration.card.answered = answered(&answers);
        if let Some(text) = &self.course.settings.consent_text {
            registration.details.consent_at = Some(now);
            let hash = HEXLOWER.encode(&Sha256::digest(text.as_str()));
            registration.details.consent_hash = Some(hash);
        }
        // A person who registers again keeps their marks.
        let attendance = self.standing.own.as_ref().map(|own| own.attendance.clone());
        FullRegistration {
            registration,
            answers,
            answers_version: 0,
            user: user.clone(),
            attendance: attendance.unwrap_or_default(),
        }
    }

    fn visible_registration(self, full: FullRegistration) -> VisibleRegistration {
        let reader = reader(self.person, self.person.user.user_id, &self.course);
        let (course, questions) = (self.course, Some(self.questions));
        VisibleRegistration { course, questions, full, reader }
    }
}
