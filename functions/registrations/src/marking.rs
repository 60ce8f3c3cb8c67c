//! `POST /registrations/{courseId}/attendance`: marks who attended. Marks can be sent late, in any order and twice: see
//! [`Mark::merged`].

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use common::{
    ActiveMember, ApiError, ApiResult, ErrorCode, FieldError, Fields, Input, InvalidField,
    InvalidValue, Message, Now, Path, input, integer, success, text,
};
use domain::{
    Constraint, CourseId, CourseSessionId, Instant, Line, UserId, ValueError,
    attendance::{
        AttendanceStatus, CourseSession, Hand, Mark, MarkResult, MarkView, Marks, Submitted,
        Ticket, scanned_at,
    },
    audit::{Action, AuditedAction, values},
    registration::RegistrationState,
    user::User,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use identity::random;
use serde::Serialize;
use serde_json::Value;
use store::{Attendee, CourseTerms, Transaction};

use crate::{Registrations, decisions::id};

/// Most marks of one request.
const MAX_MARKS: usize = 100;
/// People whose marks are written at once.
const AT_ONCE: usize = 8;
/// The status by which a hand removes a mark.
const NONE: &str = "NONE";

input! {
    pub(crate) struct MarkingRequest: 262_144 {
        /// The clock of the phone when it sent the request.
        sent_at: Instant = required("sentAt", text),
        marks: Vec<SubmittedMark> = objects("marks", MAX_MARKS, submitted_mark),
    }
}

/// An element of the request.
struct SubmittedMark {
    user_id: UserId,
    session_id: CourseSessionId,
    content: Content,
}

/// What was scanned, or chosen by hand.
enum Content {
    /// The text of the code, and when it was scanned.
    Scan { text: String, at: Instant },
    /// The choice, and the version of the mark that was seen.
    Hand { hand: Hand, seen: u64 },
}

fn submitted_mark(fields: &mut Fields) -> Result<SubmittedMark, InvalidField> {
    let user_id = fields.required("userID", id);
    let session_id = fields.required("sessionID", id);
    let status = fields.required("status", status);
    let content = if fields.has("ticket") { scan(fields, status) } else { hand(fields, status) };
    Ok(SubmittedMark { user_id: user_id?, session_id: session_id?, content: content? })
}

fn scan(
    fields: &mut Fields,
    status: Result<Option<AttendanceStatus>, InvalidField>,
) -> Result<Content, InvalidField> {
    let text = needed(fields, "ticket", ticket);
    let at = needed(fields, "at", common::text);
    for field in ["version", "minutes", "note"] {
        if fields.raw(field)?.is_some_and(|value| !value.is_null()) {
            fields.reject(field, ErrorCode::FieldValue);
        }
    }
    if status? != Some(AttendanceStatus::Present) {
        let constraint = Constraint::allowed([AttendanceStatus::Present.code()]);
        fields.reject("status", InvalidValue { code: ErrorCode::FieldValue, constraint });
    }
    Ok(Content::Scan { text: text?, at: at? })
}

fn hand(
    fields: &mut Fields,
    status: Result<Option<AttendanceStatus>, InvalidField>,
) -> Result<Content, InvalidField> {
    let version = needed(fields, "version", integer(0..=u64::MAX));
    let minutes = fields.nullable("minutes", integer(1..=MAX_MINUTES));
    let note = fields.nullable("note", text::<Line<200>>);
    if matches!(minutes, Ok(Some(_))) && status != Ok(Some(AttendanceStatus::Present)) {
        fields.reject("minutes", ErrorCode::FieldValue);
    }
    let hand = Hand { status: status?, minutes: minutes?, note: note? };
    Ok(Content::Hand { hand, seen: version? })
}

/// Reads a field that must be there, but is not required of every mark.
fn needed<T>(
    fields: &mut Fields,
    name: &str,
    read: impl FnOnce(Value) -> Result<T, InvalidValue>,
) -> Result<T, InvalidField> {
    if !fields.has(name) {
        return fields.required(name, read);
    }
    fields.optional(name, read)?.ok_or_else(|| fields.reject(name, ErrorCode::FieldRequired))
}

/// The minutes of the longest session.
const MAX_MINUTES: u32 = (CourseSession::LONGEST.as_secs() / 60) as u32;

/// A status; `None` for [`NONE`].
fn status(value: Value) -> Result<Option<AttendanceStatus>, InvalidValue> {
    if value.as_str() == Some(NONE) {
        return Ok(None);
    }
    text(value).map(Some).map_err(|invalid: InvalidValue| {
        let all = AttendanceStatus::ALL.map(AttendanceStatus::code);
        let constraint = Constraint::allowed(all.into_iter().chain([NONE]));
        InvalidValue { constraint, ..invalid }
    })
}

/// Any text: a door reads codes that are no tickets, too.
fn ticket(value: Value) -> Result<String, InvalidValue> {
    value.as_str().map(str::to_owned).ok_or(ValueError::Type.into())
}

/// What became of each mark, in the order of the request.
#[derive(Serialize)]
pub(crate) struct MarkingResponse {
    results: Vec<MarkedView>,
}

#[derive(Clone, Serialize)]
struct MarkedView {
    #[serde(rename = "userID")]
    user_id: UserId,
    #[serde(rename = "sessionID")]
    session_id: CourseSessionId,
    result: MarkResult,
    /// The state of the registration; `None` without one.
    state: Option<RegistrationState>,
    /// As it is stored then.
    mark: Option<MarkView>,
    /// Why the mark was refused.
    #[serde(rename = "RESPONSE_CODE")]
    code: Option<&'static str>,
}

/// One that is refused stops no other.
pub(crate) async fn mark(
    State(registrations): State<Registrations>,
    Now(now): Now,
    ActiveMember(person): ActiveMember,
    Path(id): Path<CourseId>,
    Input(request): Input<MarkingRequest>,
) -> ApiResult<MarkingResponse> {
    let attempt = || async {
        let terms = registrations.marked_course(id, &person).await?;
        let call =
            Call { registrations: &registrations, terms, request: &request, by: &person.user, now };
        let people = call.people().await?;
        let mut tx = registrations.store.transaction();
        let marked = call.newly_marked(&people)?;
        if !marked.is_empty() {
            tx.mark_sessions(id, &call.terms.sessions, &marked);
        }
        call.audit(&mut tx);
        Ok::<_, ApiError>((tx, (call, people, marked)))
    };
    // The sessions are recorded as marked, and hands in the audit log, before the first mark is stored.
    let (call, people, marked) = registrations.store.update(attempt, |_| None).await?;
    let results = call.recorded(people, &marked).await?;
    success(Message::AttendanceRecorded, MarkingResponse { results })
}

/// The marks of one person in a request, with their places in it.
struct Person<'a> {
    user_id: UserId,
    attendee: Option<Attendee>,
    marks: Vec<(usize, &'a SubmittedMark)>,
}

/// A request with what decides about it.
struct Call<'a> {
    registrations: &'a Registrations,
    terms: CourseTerms,
    request: &'a MarkingRequest,
    by: &'a User,
    now: Instant,
}

impl<'a> Call<'a> {
    /// The people whom the request names, with their attendance as it is stored.
    ///
    /// # Errors
    /// `COURSE_WITHOUT_SESSIONS_MESSAGE`, `COURSE_CANCELLED_MESSAGE`, or of minutes that a session has not.
    async fn people(&self) -> Result<Vec<Person<'a>>, ApiError> {
        let sessions = &self.terms.sessions.sessions;
        if sessions.is_empty() {
            return Err(ErrorCode::CourseWithoutSessions.into());
        }
        if self.terms.settings.cancelled_at.is_some() {
            return Err(ErrorCode::CourseCancelled.into());
        }
        let mut marks: BTreeMap<UserId, Vec<(usize, &SubmittedMark)>> = BTreeMap::new();
        let mut errors = Vec::new();
        for (place, mark) in self.request.marks.iter().enumerate() {
            let most = sessions.get(mark.session_id).map(CourseSession::minutes);
            if let Content::Hand { hand, .. } = &mark.content
                && let Some((minutes, most)) = hand.minutes.zip(most)
                && minutes > most
            {
                let invalid = InvalidValue {
                    code: ErrorCode::FieldValue,
                    constraint: Constraint::whole(1, most),
                };
                errors.push(FieldError::new(format!("marks[{place}].minutes"), invalid));
            }
            marks.entry(mark.user_id).or_default().push((place, mark));
        }
        if !errors.is_empty() {
            return Err(ApiError::fields(errors));
        }
        let users: Vec<UserId> = marks.keys().copied().collect();
        let course = self.terms.course.summary.course_id;
        let attendees = self.registrations.store.attendees(course, &users).await?;
        let person = |((user_id, marks), attendee)| Person { user_id, attendee, marks };
        Ok(marks.into_iter().zip(attendees).map(person).collect())
    }

    /// The sessions of which `people` get the first mark.
    fn newly_marked(&self, people: &[Person<'_>]) -> Result<BTreeSet<CourseSessionId>, ApiError> {
        let mut marked = BTreeSet::new();
        for person in people {
            let (_, results) = self.decided(person.attendee.as_ref(), &person.marks);
            let new = results.into_iter().filter(|(_, one)| one.result == MarkResult::Marked);
            marked.extend(new.map(|(_, one)| one.session_id));
        }
        marked.retain(|session_id| !self.terms.sessions.marked.contains(session_id));
        Ok(marked)
    }

    /// Adds the entry of the audit log about hands, if there are any for sessions of the course.
    fn audit(&self, tx: &mut Transaction) {
        let hands = || {
            self.request.marks.iter().filter(|mark| {
                matches!(mark.content, Content::Hand { .. })
                    && self.session(mark.session_id).is_ok()
            })
        };
        if hands().next().is_none() {
            return;
        }
        let sessions: BTreeSet<String> = hands().map(|mark| mark.session_id.to_string()).collect();
        let sessions: Vec<String> = sessions.into_iter().collect();
        let values = values([("marks", hands().count().into()), ("sessions", sessions.into())]);
        let (action, course) = (Action::AttendanceCorrected, &self.terms.course.summary);
        let corrected = AuditedAction::of_course(action, course, values);
        tx.record_audit(&corrected.by(self.by, random::id(self.now), self.now));
    }

    /// Stores the marks of `people`. Each session that gets a mark is one of the course that had marks, or one of `marked`.
    async fn recorded(
        &self,
        people: Vec<Person<'a>>,
        marked: &BTreeSet<CourseSessionId>,
    ) -> Result<Vec<MarkedView>, ApiError> {
        let store = &self.registrations.store;
        // Collected, because the compiler does not see that closures over references live long enough.
        let writes: Vec<_> = people.into_iter().map(|one| self.recorded_of(one, marked)).collect();
        let results: Vec<Vec<(usize, MarkedView)>> =
            stream::iter(writes).buffer_unordered(AT_ONCE).try_collect().await?;
        let results: BTreeMap<usize, MarkedView> = results.into_iter().flatten().collect();
        let mut results: Vec<MarkedView> = results.into_values().collect();
        let markers = results.iter().filter_map(|one| one.mark.as_ref()?.by);
        let erased = store.erased_of(markers.filter(|id| *id != self.by.user_id)).await?;
        for mark in results.iter_mut().filter_map(|one| one.mark.as_mut()) {
            mark.by = mark.by.filter(|id| !erased.contains(id));
        }
        Ok(results)
    }

    async fn recorded_of(
        &self,
        Person { user_id, attendee, marks }: Person<'a>,
        marked: &BTreeSet<CourseSessionId>,
    ) -> Result<Vec<(usize, MarkedView)>, ApiError> {
        let has_marks = |session: &CourseSessionId| {
            marked.contains(session) || self.terms.sessions.marked.contains(session)
        };
        let decide = |attendee: Option<&Attendee>| {
            let (after, results) = self.decided(attendee, &marks);
            let is_first = |(_, one): &(usize, MarkedView)| {
                one.result == MarkResult::Marked && !has_marks(&one.session_id)
            };
            // The person has registered since, and this is the first mark of the session. The client sends all again after a
            // 409; marks of others may be stored by then, and are the same the second time.
            if results.iter().any(is_first) {
                return Err(ApiError::from(ErrorCode::Conflict));
            }
            Ok((after, results))
        };
        let course = self.terms.course.summary.course_id;
        self.registrations.store.update_marks(course, user_id, attendee, decide).await
    }

    /// The marks of `attendee` after `marks`, if they change, and what becomes of each.
    fn decided(
        &self,
        attendee: Option<&Attendee>,
        marks: &[(usize, &SubmittedMark)],
    ) -> (Option<Marks>, Vec<(usize, MarkedView)>) {
        let before = attendee.map(|attendee| attendee.stored.marks.clone()).unwrap_or_default();
        let mut after = before.clone();
        let results = marks.iter().map(|(place, mark)| {
            let (result, code) = match self.merged(attendee, mark, &mut after) {
                Ok(MarkResult::Refused) => {
                    (MarkResult::Refused, Some(ErrorCode::MarkChanged.code()))
                }
                Ok(result) => (result, None),
                Err(code) => (MarkResult::Refused, Some(code.code())),
            };
            let session = self.terms.sessions.sessions.get(mark.session_id);
            let stored = session.zip(after.0.get(&mark.session_id));
            let view = MarkedView {
                user_id: mark.user_id,
                session_id: mark.session_id,
                result,
                state: attendee.map(|attendee| attendee.registration.card.state),
                mark: stored.map(|(session, mark)| MarkView::new(session, mark)),
                code,
            };
            (*place, view)
        });
        let results = results.collect();
        ((after != before).then_some(after), results)
    }

    /// Merges `mark` into `marks` of `attendee`.
    ///
    /// # Errors
    /// The first reason why it is refused, but that another hand has changed it.
    fn merged(
        &self,
        attendee: Option<&Attendee>,
        mark: &SubmittedMark,
        marks: &mut Marks,
    ) -> Result<MarkResult, ErrorCode> {
        let session = self.session(mark.session_id)?;
        let attendee = attendee.ok_or(ErrorCode::RegistrationNotFound)?;
        let submitted = match &mark.content {
            Content::Scan { text, at } => {
                let ticket: Option<Ticket> = text.parse().ok();
                if ticket.is_none() || ticket != attendee.registration.card.ticket {
                    return Err(ErrorCode::TicketInvalid);
                }
                let earliest = self.registrations.zone.day_start(session.start_at);
                Submitted::Scan(scanned_at(*at, self.request.sent_at, self.now, earliest))
            }
            Content::Hand { hand, seen } => Submitted::Hand { seen: *seen, hand: hand.clone() },
        };
        let stored = marks.0.get(&mark.session_id);
        let (result, changed) = Mark::merged(stored, &submitted, self.by.user_id, self.now);
        marks.0.extend(changed.map(|changed| (mark.session_id, changed)));
        Ok(result)
    }

    /// The session `id`, if marks of it are taken now.
    fn session(&self, id: CourseSessionId) -> Result<&CourseSession, ErrorCode> {
        let CourseTerms { course, sessions, .. } = &self.terms;
        let session = sessions.sessions.get(id).ok_or(ErrorCode::SessionNotFound)?;
        let Registrations { zone, attendance_time, .. } = self.registrations;
        if session.cancelled {
            Err(ErrorCode::SessionCancelled)
        } else if session.takes_marks(course.summary.end(), *attendance_time, zone, self.now) {
            Ok(session)
        } else {
            Err(ErrorCode::AttendanceClosed)
        }
    }
}
