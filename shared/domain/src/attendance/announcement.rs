//! What confirmed people are told without a change of their registrations: reminders, and changes of the dates.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Reminder, Schedule};
use crate::{
    CourseId, Instant, UserId, Zone,
    course::{CourseSummary, Language},
};

/// How long after the last change of a course's dates people are told of it: by then others may have followed.
const QUIET: Duration = Duration::from_secs(15 * 60);

/// What the confirmed people of a course are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Announcement {
    /// The course goes on soon.
    Reminder(Reminder),
    /// Dates or places changed, for the last time at this instant.
    Change(Instant),
}

impl Announcement {
    /// People who were confirmed before this get it.
    pub fn concerns_since(self) -> Instant {
        match self {
            Self::Reminder(reminder) => reminder.due_at(),
            Self::Change(changed_at) => changed_at,
        }
    }

    /// The id of the message to `user`, whose registration for `course` has this `number`: a UUID v5 (RFC 9562 §5.5), so that
    /// there is one message, however often it is queued.
    pub fn message_id(self, course: CourseId, user: UserId, number: u64) -> Uuid {
        let what = match self {
            Self::Reminder(Reminder { start, hours }) => format!("reminder {start} {hours}"),
            Self::Change(changed_at) => format!("change {changed_at}"),
        };
        Uuid::new_v5(&course.uuid(), format!("{what} {user} {number}").as_bytes())
    }
}

/// What a message with an announcement reports. What it names of the course is read when it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnnouncementNotice {
    /// The course.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// Number of the registration: a later one overtakes the message.
    pub number: u64,
    /// What is announced.
    pub announcement: Announcement,
    /// Language of the registration.
    pub language: Language,
}

/// How far the announcements of a course have come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Announcements {
    /// Number of changes of the dates, and of all that announcements depend on.
    pub changes: u64,
    /// When the dates changed last, if people have not been told.
    pub changed_at: Option<Instant>,
    /// The dates before the first of those changes.
    pub former: Option<Schedule>,
    /// The last change of which people were told.
    pub told_at: Option<Instant>,
    /// The dates before it.
    pub told_former: Option<Schedule>,
    /// Reminders that were due until then have been queued.
    pub reminded_until: Option<Instant>,
    /// The last registration that the present announcement has reached.
    pub position: Option<Position>,
}

/// A place in the list of registrations, of an announcement that goes on after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// What is announced.
    pub announcement: Announcement,
    /// The place.
    pub after: String,
}

impl Announcements {
    /// What is to be announced of `course` with `schedule` at `now`.
    pub fn due(
        &self,
        course: &CourseSummary,
        schedule: &Schedule,
        zone: &Zone,
        now: Instant,
    ) -> Option<Announcement> {
        if !course.is_announced() || course.has_ended(now) {
            return None;
        }
        let changed = self.changed_at.filter(|changed_at| changed_at.after(QUIET) <= now);
        changed.map(Announcement::Change).or_else(|| {
            let is_due = |reminder: &Reminder| reminder.due_at() <= now && !reminder.is_over(now);
            let reminder = self.open_reminders(schedule, zone).find(is_due);
            reminder.map(Announcement::Reminder)
        })
    }

    /// When, after `now`, time alone brings more of it; `None`: never.
    pub fn next(
        &self,
        course: &CourseSummary,
        schedule: &Schedule,
        zone: &Zone,
        now: Instant,
    ) -> Option<Instant> {
        let changed = self.changed_at.map(|changed_at| changed_at.after(QUIET));
        let reminders = self.open_reminders(schedule, zone).map(Reminder::due_at);
        let times = changed.into_iter().chain(reminders).filter(|time| *time > now);
        times.min().filter(|_| course.is_announced())
    }

    /// The dates before the change that was told as that of `changed_at`; `None` when a later one has been told.
    ///
    /// Until the worker has recorded that all were told, they are still those before the next change.
    pub fn former_of(&self, changed_at: Instant) -> Option<&Schedule> {
        if self.told_at == Some(changed_at) {
            return self.told_former.as_ref();
        }
        self.former.as_ref().filter(|_| self.changed_at == Some(changed_at))
    }

    fn open_reminders(&self, schedule: &Schedule, zone: &Zone) -> impl Iterator<Item = Reminder> {
        let until = self.reminded_until;
        let reminders = schedule.reminders(zone).into_iter();
        reminders.filter(move |one| until.is_none_or(|until| one.due_at() > until))
    }
}
