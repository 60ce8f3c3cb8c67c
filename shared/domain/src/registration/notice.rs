//! The messages about a change of state of a registration, and about registrations that wait for a decision.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Registration, RegistrationState};
use crate::{CourseId, Instant, UserId, course::Language};

/// What happened to a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RegistrationEvent {
    /// The person registered: the state says what became of it.
    Registered,
    /// The committee accepted it.
    Approved,
    /// A seat became free.
    Promoted,
    /// The committee refused it.
    Rejected,
    /// The person cancelled it.
    CancelledByPerson,
    /// The committee cancelled it.
    CancelledByCommittee,
    /// The course was cancelled.
    CourseCancelled,
    /// The course began before a seat was free, or before the committee decided.
    Expired,
}

impl RegistrationEvent {
    /// Whether the registered person did it.
    pub const fn is_by_person(self) -> bool {
        matches!(self, Self::Registered | Self::CancelledByPerson)
    }
}

/// What a message about a registration reports. What it names of the course is read when it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationNotice {
    /// The course.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// Version of the registration: a later change of its state overtakes the message.
    pub version: u64,
    /// What happened.
    pub event: RegistrationEvent,
    /// The state before; `None` for the first registration.
    pub from: Option<RegistrationState>,
    /// The state since then.
    pub state: RegistrationState,
    /// Language of the registration.
    pub language: Language,
}

impl RegistrationNotice {
    /// What the message reports when `registration` came to its state by `event`.
    pub fn new(event: RegistrationEvent, registration: &Registration) -> Self {
        let card = &registration.card;
        Self {
            course_id: card.course_id,
            version: card.version,
            event,
            from: registration.history.last().and_then(|entry| entry.from),
            state: card.state,
            language: card.language.clone(),
        }
    }
}

/// The id of the message to `user` about the registrations for `course` that wait for a decision at `now`: a UUID v5 (RFC
/// 9562 §5.5) of course, person and hour, so that there is one an hour.
pub fn requests_message_id(course: CourseId, user: UserId, now: Instant) -> Uuid {
    let hour = now.unix_milliseconds().div_euclid(HOUR_MS);
    Uuid::new_v5(&course.uuid(), format!("requests {user} {hour}").as_bytes())
}

/// When the next hour after `now` begins, and with it the next such message can be sent.
pub fn next_requests_message(now: Instant) -> Instant {
    let hour = now.unix_milliseconds().div_euclid(HOUR_MS) + 1;
    Instant::from_unix_milliseconds(hour.saturating_mul(HOUR_MS))
}

const HOUR_MS: i64 = 3_600_000;
