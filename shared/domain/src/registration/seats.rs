//! The seats of a course: how many are free, and where a newcomer gets.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RegistrationState;
use crate::{Instant, course::CourseSummary};

/// The seats of a course, in one item that is part of every change of state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seats {
    /// Number of confirmed registrations.
    pub taken: u32,
    /// Length of the waiting list.
    pub waiting: u32,
    /// Registrations that wait for the committee.
    pub pending: u32,
    /// Number of seats; `None` without a limit.
    #[serde(rename = "seats")]
    pub capacity: Option<u32>,
    /// Number of changes of settings, course state, start and question types, none of which a registration may overlook.
    pub revision: u64,
    /// Number of all changes.
    pub changes: u64,
    /// Number of people who have ever registered.
    pub registered: u32,
    /// When the newest registration came that waits for a decision and that the committee has not been told of.
    #[serde(rename = "requestedAt")]
    pub requested_at: Option<Instant>,
    /// When the start of the course was changed last since it was published.
    #[serde(rename = "startChangedAt")]
    pub start_changed_at: Option<Instant>,
    /// How far the deletion of old data has come.
    pub cleanup: Option<Cleanup>,
}

/// A deletion of old data that goes through the registrations for a course in several pieces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleanup {
    /// The position in the list of registrations after which it goes on.
    pub after: String,
    /// When the time of the next one before it is over.
    pub next: Option<Instant>,
}

/// How long after a change of the start nobody loses their registration because the course has begun: the new date may be a
/// mistake.
const GRACE: Duration = Duration::from_secs(600);

impl Seats {
    /// The number of seats that are not taken; `None` without a limit.
    pub fn free(&self) -> Option<u32> {
        self.capacity.map(|capacity| capacity.saturating_sub(self.taken))
    }

    /// Whether a seat is not taken.
    pub fn has_room(&self) -> bool {
        self.free() != Some(0)
    }

    /// Where a newcomer or an approved person gets: a seat if one is free and nobody waits for it, else the waiting list. The
    /// limit of the list holds only while no seat is free: people who wait nevertheless cannot be promoted, and take nobody's
    /// place. `None` if there is no list any more: nobody is promoted then.
    pub fn place(&self, waitlist_limit: Option<u32>) -> Option<RegistrationState> {
        match (self.has_room(), waitlist_limit) {
            (true, Some(_)) if self.waiting > 0 => Some(RegistrationState::Waitlisted),
            (true, _) => Some(RegistrationState::Confirmed),
            (false, Some(limit)) if self.waiting < limit => Some(RegistrationState::Waitlisted),
            (false, _) => None,
        }
    }

    /// When registrations without a seat for `course` end; `None` if it has no dates.
    pub fn expiry(&self, course: &CourseSummary) -> Option<Instant> {
        let start = course.start()?;
        Some(self.start_changed_at.map_or(start, |changed| start.max(changed.after(GRACE))))
    }

    /// Active registrations.
    pub fn active(&self) -> u32 {
        self.taken + self.waiting + self.pending
    }
}
