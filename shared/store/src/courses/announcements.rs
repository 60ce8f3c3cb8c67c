//! How far the announcements of a course have come: an item that is due when the next one is.
//!
//! Each change of what announcements depend on raises `changes`, which is the condition of all that the worker writes: it
//! begins anew with the course as it is then. Its messages have ids that follow from what they announce, so that none is queued
//! twice.

use domain::{
    CourseId, Instant,
    attendance::{Announcement, Announcements, Position, Schedule},
    course::CourseSummary,
    outbox::OutboxItem,
    times::SWEEP_DELAY,
};

use crate::{
    CommitOutcome, Part, Store, StoreError, Transaction, keys, registrations::seats::with_due,
    write::Write,
};

impl Store {
    /// How far the announcements of `course` have come.
    pub async fn announcements(&self, course: CourseId) -> Result<Announcements, StoreError> {
        Ok(self.get(&keys::announcements(course)).await?.unwrap_or_default())
    }

    /// Queues `message`, a mail in numbers, unless it has been queued.
    pub async fn send_once(&self, message: &OutboxItem) -> Result<(), StoreError> {
        let mut tx = self.transaction();
        tx.send_at_rate(message);
        let (CommitOutcome::Committed | CommitOutcome::ConditionFailed(_)) = tx.commit().await?;
        Ok(())
    }

    /// Makes an announcement go on at `position`, at once. As all that follow, it does nothing when something has changed since
    /// `announcements` was read.
    pub async fn continue_announcement(
        &self,
        course: CourseId,
        announcements: &Announcements,
        position: &Position,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = with_due(unless_changed(course, announcements), now)
            .expression(
                "SET #position = :position, duePk = :list, dueAt = :due, requestId = :request",
            )
            .name("#position", "position")
            .value(":position", position);
        self.apply(update).await.map(drop)
    }

    /// Records that all messages of `announcement` are queued.
    pub async fn finish_announcement(
        &self,
        course: CourseId,
        announcements: &Announcements,
        announcement: Announcement,
    ) -> Result<(), StoreError> {
        let update = unless_changed(course, announcements).name("#position", "position");
        let update = match announcement {
            Announcement::Reminder(reminder) => update
                .expression("SET remindedUntil = :until REMOVE #position")
                .value(":until", &reminder.due_at()),
            Announcement::Change(_) => update.expression(
                "SET toldAt = changedAt, toldFormer = former REMOVE changedAt, former, #position",
            ),
        };
        self.apply(update).await.map(drop)
    }

    /// Makes the announcements of `course` due at `next`, or never.
    pub async fn schedule_announcements(
        &self,
        course: CourseId,
        announcements: &Announcements,
        next: Option<Instant>,
    ) -> Result<(), StoreError> {
        let update = unless_changed(course, announcements);
        let update = match next {
            // A write that changes nothing would still bring a stream record.
            Some(next) => with_due(update, next)
                .and("(attribute_not_exists(dueAt) OR dueAt <> :due)")
                .expression("SET duePk = :list, dueAt = :due, requestId = :request"),
            None => update.expression("REMOVE duePk, dueAt"),
        };
        self.apply(update).await.map(drop)
    }
}

fn unless_changed(course: CourseId, announcements: &Announcements) -> Write {
    Write::at(&keys::announcements(course))
        .when("changes = :changes")
        .number(":changes", announcements.changes)
}

impl Transaction {
    /// Records that the dates of `course` change from `before` to `after` at `now`: those who are confirmed are told, if it was
    /// ever published, and reminded of the new ones.
    pub fn reschedule(
        &mut self,
        course: &CourseSummary,
        before: &Schedule,
        after: &Schedule,
        now: Instant,
    ) {
        if course.published_at.is_none() || before == after {
            return;
        }
        if before.is_told_as(after, now) {
            return self.wake_announcements(course.course_id, now);
        }
        let set = ", changedAt = :now, former = if_not_exists(former, :former)";
        let update = woken(course.course_id, set, now);
        self.update(Part::Other, update.value(":now", &now).value(":former", before));
    }

    /// Makes the worker look at the announcements of `course` again.
    pub(crate) fn wake_announcements(&mut self, course: CourseId, now: Instant) {
        self.update(Part::Other, woken(course, "", now));
    }
}

fn woken(course: CourseId, set: &str, now: Instant) -> Write {
    with_due(Write::at(&keys::announcements(course)), now.after(SWEEP_DELAY))
        .expression(format!(
            "SET duePk = :list, dueAt = :due, requestId = :request{set} \
             REMOVE #position, remindedUntil ADD changes :one"
        ))
        .name("#position", "position")
        .number(":one", 1)
}
