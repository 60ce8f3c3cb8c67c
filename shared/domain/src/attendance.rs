//! The sessions of a course, who attended them, and what registered people are told of their dates.

mod announcement;
mod course_session;
mod mark;
mod schedule;
mod sum;

pub use self::{
    announcement::{Announcement, AnnouncementNotice, Announcements, Position},
    course_session::{CourseSession, CourseSessionView, CourseSessions, MAX_SESSIONS},
    mark::{AttendanceStatus, Hand, Mark, MarkResult, MarkSource, Marks, Submitted, scanned_at},
    schedule::{Reminder, Schedule, Slot, SlotChange},
    sum::{Attendance, MarkView},
};

/// What a confirmed person shows at the door.
pub type Ticket = crate::values::crockford::Crockford<10>;

/// Most people who may mark the attendance of a course beside its writers.
pub const MAX_MARKERS: usize = 20;
/// Most hours before a session for its reminder.
pub const MAX_REMINDER_HOURS: u8 = 168;

#[cfg(test)]
mod tests;
