//! The message about a change of state of a registration.

use serde::{Deserialize, Serialize};

use super::{Reason, Registration, RegistrationSettings, RegistrationState};
use crate::{CourseId, Instant, Line, Prose, course::CourseSummary, user::User};

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

/// The content of a message about a registration.
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
    /// Title of the course. It, the reason and the room or link are only for accounts that somebody vouches for.
    pub title: Option<Line<200>>,
    /// When the course starts.
    pub start_at: Option<Instant>,
    /// Room or link, for confirmed people.
    pub join_info: Option<Prose<2000>>,
    /// Why it was refused or cancelled.
    pub reason: Option<Reason>,
}

impl RegistrationNotice {
    /// The message to `user` that their `registration` for `course` came to its state by `event`. For a mailbox that may be
    /// another person's it has no texts that people wrote.
    pub fn new(
        event: RegistrationEvent,
        registration: &Registration,
        course: &CourseSummary,
        settings: &RegistrationSettings,
        user: &User,
    ) -> Self {
        let is_shown = user.is_vouched_for();
        let state = registration.card.state;
        let is_confirmed = is_shown && state == RegistrationState::Confirmed;
        Self {
            course_id: course.course_id,
            version: registration.card.version,
            event,
            from: registration.history.last().and_then(|entry| entry.from),
            state,
            title: is_shown.then(|| course.course_title.clone()),
            start_at: course.start_at,
            join_info: settings.join_info.clone().filter(|_| is_confirmed),
            reason: registration.details.reason.clone().filter(|_| is_shown),
        }
    }
}
