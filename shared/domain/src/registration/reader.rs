//! What the caller may do with a registration that they read.

use super::{Party, RegistrationCard, RegistrationSettings, RegistrationState};
use crate::{Instant, course::CourseSummary};

/// Who reads a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reader {
    /// Whether they may write the course.
    pub is_writer: bool,
    /// Whether the registration is their own.
    pub is_own: bool,
    /// Whether their committee is active, or they are a super admin.
    pub may_act: bool,
}

impl Reader {
    /// In which role they change the registration; `None` if they may not. Members of a closed committee may only change
    /// their own.
    pub const fn party(self) -> Option<Party> {
        match self {
            Self { is_writer: true, may_act: true, .. } => Some(Party::Committee),
            Self { is_writer: true, is_own: false, .. } => None,
            _ => Some(Party::Person),
        }
    }

    /// In which role they can cancel the registration with `card` at `now`; `None` if they cannot, or it is not active. A
    /// writer who is registered acts for themselves while they may.
    pub fn canceller(
        self,
        card: &RegistrationCard,
        course: &CourseSummary,
        settings: &RegistrationSettings,
        now: Instant,
    ) -> Option<Party> {
        if !card.state.is_active() {
            return None;
        }
        let end = card.cancellation_end(course, settings);
        if self.is_own && end.is_none_or(|end| now < end) {
            return Some(Party::Person);
        }
        self.party().filter(|party| *party == Party::Committee)
    }

    /// Whether they can change the answers of the registration with `card` at `now`.
    pub fn may_edit(self, card: &RegistrationCard, course: &CourseSummary, now: Instant) -> bool {
        card.state.is_active()
            && match self.party() {
                Some(Party::Committee) => true,
                Some(_) => self.is_own && !course.has_started(now),
                None => false,
            }
    }
}

impl RegistrationCard {
    /// Until when the person can leave `course` by themselves; `None`: always. Who has no seat can until the start.
    pub fn cancellation_end(
        &self,
        course: &CourseSummary,
        settings: &RegistrationSettings,
    ) -> Option<Instant> {
        match self.state {
            RegistrationState::Confirmed => settings.cancellation_end(course),
            _ => course.start(),
        }
    }
}
