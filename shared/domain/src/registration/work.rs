//! What the service does about the registrations for a course without a request.

use std::time::Duration;

use super::{RegistrationSettings, Seats};
use crate::{
    Instant,
    course::{CourseState, CourseSummary},
};

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Registrations end.
    End(Ending),
    /// People on the waiting list get free seats.
    Promote,
    /// Those who may decide are told of registrations that wait for it.
    TellDeciders,
    /// Answers and personal data whose retention is over are deleted.
    Forget,
}

/// Why registrations end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The course is cancelled: all active ones end.
    Cancelled,
    /// The course has started: those without a seat end.
    Started,
}

/// How long data of registrations is kept after the end of a course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Answers.
    pub answers: Duration,
    /// Personal data.
    pub cards: Duration,
}

impl Retention {
    /// When it begins for the registrations for `course`: at its end, or with its last change if it has no dates.
    pub fn begin(course: &CourseSummary) -> Instant {
        course.end().unwrap_or(course.updated_at)
    }
}

impl Seats {
    /// The work on `course` that may be done at `now`, the most urgent first. Whether anyone who waits can be promoted, and
    /// which data is old, is known only after more is read.
    pub fn work(
        &self,
        course: &CourseSummary,
        settings: &RegistrationSettings,
        retention: Retention,
        now: Instant,
    ) -> Vec<Work> {
        let is_cancelled = settings.cancelled_at.is_some();
        let has_expired = self.expiry(course).is_some_and(|expiry| expiry <= now);
        let ending = if is_cancelled && self.active() > 0 {
            Some(Ending::Cancelled)
        } else if has_expired && self.waiting + self.pending > 0 {
            Some(Ending::Started)
        } else {
            None
        };
        let may_promote = course.state == CourseState::Published
            && !is_cancelled
            && !course.has_started(now)
            && self.waiting > 0
            && self.has_room();
        let may_tell = course.is_announced() && self.pending > 0 && self.requested_at.is_some();
        let is_old =
            self.registered > 0 && Retention::begin(course).after(retention.answers) <= now;
        let promote = may_promote.then_some(Work::Promote);
        let tell = may_tell.then_some(Work::TellDeciders);
        let forget = is_old.then_some(Work::Forget);
        [ending.map(Work::End), promote, tell, forget].into_iter().flatten().collect()
    }

    /// When, after `now`, time alone brings more work on `course`; `None` if it brings none.
    pub fn next_work(
        &self,
        course: &CourseSummary,
        retention: Retention,
        now: Instant,
    ) -> Option<Instant> {
        let begin = (self.registered > 0).then(|| Retention::begin(course))?;
        let expiry = self.expiry(course).filter(|_| self.waiting + self.pending > 0);
        let ends = [retention.answers, retention.cards].map(|time| begin.after(time));
        expiry.into_iter().chain(ends).filter(|time| *time > now).min()
    }
}
