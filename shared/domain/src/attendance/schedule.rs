//! When and where a course takes place, as registered people are told of it.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::CourseSessions;
use crate::{
    CourseSessionId, Instant, Line, Prose, Zone, course::CourseSummary,
    registration::RegistrationSettings,
};

/// A session, or a whole course without sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Slot {
    /// `None` for the course.
    #[serde(rename = "sessionID")]
    session_id: Option<CourseSessionId>,
    /// When it starts.
    pub start: Option<Instant>,
    /// When it ends.
    pub end: Option<Instant>,
    /// Where it takes place.
    pub place: Option<String>,
    /// Whether it does not.
    pub cancelled: bool,
}

/// All that a change of a course's dates is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The sessions, or the course.
    pub slots: Vec<Slot>,
    /// Room or link.
    pub join_info: Option<Prose<2000>>,
    /// How many hours before the first session of a day people are reminded of it; `None`: never.
    reminder_hours: Option<u8>,
}

/// What became of a slot to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotChange {
    /// As it was; `None` if it was added.
    pub was: Option<Slot>,
    /// As it is; `None` if it was removed.
    pub is: Option<Slot>,
}

/// The reminder of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// When the first session of the day starts.
    pub start: Instant,
    /// How many hours before that it is due.
    pub hours: u8,
}

impl Reminder {
    /// How long after the start it is still sent, if something was late.
    const GRACE: Duration = Duration::from_secs(15 * 60);

    /// When it is due.
    pub fn due_at(self) -> Instant {
        self.start.before(Duration::from_secs(u64::from(self.hours) * 3600))
    }

    /// Whether it is too late for it at `now`.
    pub fn is_over(self, now: Instant) -> bool {
        self.start.after(Self::GRACE) <= now
    }
}

impl Schedule {
    /// The schedule of `course` with these `settings` and `sessions`.
    pub fn new(
        course: &CourseSummary,
        settings: &RegistrationSettings,
        sessions: &CourseSessions,
    ) -> Self {
        let place = course.place();
        let mut slots: Vec<Slot> = sessions
            .iter()
            .map(|session| Slot {
                session_id: Some(session.session_id),
                start: Some(session.start_at),
                end: Some(session.end_at),
                place: session.location.as_ref().map(Line::to_string).or_else(|| place.clone()),
                cancelled: session.cancelled,
            })
            .collect();
        if slots.is_empty() {
            let (start, end) = (course.start_at, course.end_at);
            slots.push(Slot { session_id: None, start, end, place, cancelled: false });
        }
        Self {
            slots,
            join_info: settings.join_info.clone(),
            reminder_hours: settings.reminder_hours,
        }
    }

    /// The slots to come at `now` that differ in `after`, by their times.
    pub fn changes(&self, after: &Self, now: Instant) -> Vec<SlotChange> {
        let by_id = |schedule: &Self| -> BTreeMap<Option<CourseSessionId>, Slot> {
            schedule.slots.iter().map(|slot| (slot.session_id, slot.clone())).collect()
        };
        let (mut was, is) = (by_id(self), by_id(after));
        let kept =
            is.into_iter().map(|(id, slot)| SlotChange { was: was.remove(&id), is: Some(slot) });
        let mut all: Vec<SlotChange> = kept.collect();
        all.extend(was.into_values().map(|slot| SlotChange { was: Some(slot), is: None }));
        all.retain(|change| change.is_to_tell(now));
        all.sort_by_key(SlotChange::start);
        all
    }

    /// Whether people are told when it becomes `after` at `now`.
    pub fn is_told_as(&self, after: &Self, now: Instant) -> bool {
        self.join_info == after.join_info && self.changes(after, now).is_empty()
    }

    /// The reminders, one for each local day in `zone`, the earliest first.
    pub fn reminders(&self, zone: &Zone) -> Vec<Reminder> {
        let Some(hours) = self.reminder_hours else {
            return Vec::new();
        };
        let mut starts: Vec<Instant> = self
            .slots
            .iter()
            .filter(|slot| !slot.cancelled)
            .filter_map(|slot| slot.start)
            .collect();
        starts.sort_unstable();
        starts.dedup_by_key(|start| zone.day_start(*start));
        starts.into_iter().map(|start| Reminder { start, hours }).collect()
    }
}

impl SlotChange {
    fn is_to_tell(&self, now: Instant) -> bool {
        let takes_place = |slot: &Option<Slot>| slot.as_ref().is_some_and(|slot| !slot.cancelled);
        let starts = [&self.was, &self.is].map(|slot| slot.as_ref().and_then(|slot| slot.start));
        let is_to_come =
            starts.iter().flatten().any(|start| *start > now) || starts == [None, None];
        is_to_come && self.was != self.is && (takes_place(&self.was) || takes_place(&self.is))
    }

    fn start(&self) -> Option<Instant> {
        let slot = self.is.as_ref().or(self.was.as_ref());
        slot.and_then(|slot| slot.start)
    }
}
