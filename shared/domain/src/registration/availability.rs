//! Whether a person can register for a course now.

use serde::Serialize;

use super::{Mode, RegistrationSettings, RegistrationState, Seats};
use crate::{
    Instant,
    choice::codes,
    course::{CourseState, CourseSummary},
};

codes! {
    /// What a registration would meet.
    Status {
        /// The course does not take registrations.
        Disabled "DISABLED"
        /// Registration has not opened.
        NotOpen "NOT_OPEN"
        /// A registration gets a seat, or goes to the committee.
        Open "OPEN"
        /// A registration goes to the waiting list.
        Waitlist "WAITLIST"
        /// Seats and waiting list are full.
        Full "FULL"
        /// Registration has closed.
        Closed "CLOSED"
        /// The course was cancelled.
        Cancelled "CANCELLED"
    }
}

/// The state of a course's registrations, for those who may read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Availability {
    /// What a registration would meet.
    pub status: Status,
    /// Number of seats; `None` without a limit.
    pub capacity: Option<u32>,
    /// Confirmed people.
    pub taken: u32,
    /// Seats that a newcomer can get: 0 while somebody waits, `None` without a limit.
    pub free: Option<u32>,
    /// People on the waiting list.
    pub waiting: u32,
    /// When registration opens.
    pub opens_at: Option<Instant>,
    /// When it closes.
    pub closes_at: Option<Instant>,
    /// Until when confirmed people can cancel.
    pub cancel_until: Option<Instant>,
    /// The state of the reader's own registration.
    pub mine: Option<RegistrationState>,
}

impl RegistrationSettings {
    /// What a registration for `course` with `seats` would meet at `now`. `is_open` says whether its committee is active.
    pub fn status(
        &self,
        course: &CourseSummary,
        seats: &Seats,
        is_open: bool,
        now: Instant,
    ) -> Status {
        let has_closed = self.closing(course).is_some_and(|end| end <= now);
        if self.cancelled_at.is_some() {
            Status::Cancelled
        } else if self.mode == Mode::None {
            Status::Disabled
        } else if self.opening(course).is_none_or(|opening| now < opening) {
            Status::NotOpen
        } else if has_closed || !is_open || course.state != CourseState::Published {
            Status::Closed
        } else if self.mode == Mode::Manual {
            Status::Open
        } else {
            match seats.place(self.list_limit(course, now)) {
                Some(RegistrationState::Confirmed) => Status::Open,
                Some(_) => Status::Waitlist,
                None => Status::Full,
            }
        }
    }

    /// How many may be on the waiting list while no seat is free; `None` once the course has started: nobody is promoted
    /// then.
    pub fn list_limit(&self, course: &CourseSummary, now: Instant) -> Option<u32> {
        (!course.has_started(now)).then_some(self.waitlist_limit)
    }

    /// What [`status`](Self::status) depends on, for a reader whose own registration is `mine`.
    pub fn availability(
        &self,
        course: &CourseSummary,
        seats: &Seats,
        status: Status,
        mine: Option<RegistrationState>,
    ) -> Availability {
        Availability {
            status,
            capacity: seats.capacity,
            taken: seats.taken,
            free: seats.free().map(|free| if seats.waiting > 0 { 0 } else { free }),
            waiting: seats.waiting,
            opens_at: self.opening(course),
            closes_at: self.closing(course),
            cancel_until: self.cancellation_end(course),
            mine,
        }
    }
}
