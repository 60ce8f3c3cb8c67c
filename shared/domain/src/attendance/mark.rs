//! Marks of attendance, and how those of several phones become one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CourseSession, CourseSessions};
use crate::{
    CourseSessionId, Instant, Line, UserId,
    choice::{choice, codes},
};

choice! {
    /// Whether a person attended a session.
    AttendanceStatus {
        /// They were there.
        Present "PRESENT"
        /// They were not.
        Absent "ABSENT"
        /// They were not, for a reason that the committee accepts.
        Excused "EXCUSED"
    }
}

codes! {
    /// How a mark came about.
    MarkSource {
        /// The person's ticket was read.
        Scan "SCAN"
        /// A person chose the status.
        Hand "HAND"
    }
}

codes! {
    /// What became of a mark that was sent.
    MarkResult {
        /// It is stored.
        Marked "MARKED"
        /// The same is stored already.
        Unchanged "UNCHANGED"
        /// A mark by hand stays.
        Kept "KEPT"
        /// It was refused.
        Refused "REFUSED"
    }
}

/// The mark of one person for one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// The status; `None` after a hand has removed it.
    pub status: Option<AttendanceStatus>,
    /// How it came about.
    pub source: MarkSource,
    /// When the ticket was read; `None` if that is not known, and of hands.
    pub at: Option<Instant>,
    /// The minutes that are credited; `None`: those of the session.
    pub minutes: Option<u32>,
    /// A note of those who mark.
    pub note: Option<Line<200>>,
    /// Number of hands so far.
    pub version: u64,
    /// Time of the last change.
    pub updated_at: Instant,
    /// Who made it; `None` if that is not shown.
    pub by: Option<UserId>,
}

/// A mark that is submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// The ticket of the person was read, at this time if that is known.
    Scan(Option<Instant>),
    /// A person chose a status when the mark had the version `seen`.
    Hand {
        /// [`Mark::version`]; 0 for none.
        seen: u64,
        /// The choice.
        hand: Hand,
    },
}

/// What is chosen for a person and a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hand {
    /// See [`Mark::status`].
    pub status: Option<AttendanceStatus>,
    /// See [`Mark::minutes`].
    pub minutes: Option<u32>,
    /// See [`Mark::note`].
    pub note: Option<Line<200>>,
}

impl Mark {
    /// What becomes of `submitted` by the account `by` where `stored` is: the result, and the mark to store, if any. Among scans
    /// the earliest wins, and a hand wins over a scan, in whatever order and how often they come; a hand over another one only
    /// if it has seen it.
    pub fn merged(
        stored: Option<&Self>,
        submitted: &Submitted,
        by: UserId,
        now: Instant,
    ) -> (MarkResult, Option<Self>) {
        let is_by_hand = |mark: &&Self| mark.source == MarkSource::Hand;
        match (stored, submitted) {
            (Some(Self { source: MarkSource::Hand, .. }), Submitted::Scan(_)) => {
                (MarkResult::Kept, None)
            }
            (Some(stored), Submitted::Scan(at)) if !is_earlier(*at, stored.at) => {
                (MarkResult::Unchanged, None)
            }
            (_, Submitted::Scan(at)) => {
                let mark = Self {
                    status: Some(AttendanceStatus::Present),
                    source: MarkSource::Scan,
                    at: *at,
                    minutes: None,
                    note: None,
                    version: 0,
                    updated_at: now,
                    by: Some(by),
                };
                (MarkResult::Marked, Some(mark))
            }
            (_, Submitted::Hand { seen, hand }) => {
                let former = stored.filter(is_by_hand);
                if former.is_some_and(|former| former.hand() == *hand) {
                    return (MarkResult::Unchanged, None);
                }
                if former.is_some_and(|former| former.version != *seen) {
                    return (MarkResult::Refused, None);
                }
                let Hand { status, minutes, note } = hand.clone();
                let mark = Self {
                    status,
                    source: MarkSource::Hand,
                    at: None,
                    minutes,
                    note,
                    version: former.map_or(0, |former| former.version) + 1,
                    updated_at: now,
                    by: Some(by),
                };
                (MarkResult::Marked, Some(mark))
            }
        }
    }

    fn hand(&self) -> Hand {
        Hand { status: self.status, minutes: self.minutes, note: self.note.clone() }
    }

    /// The minutes of `session` that are credited.
    pub fn credit(&self, session: &CourseSession) -> u32 {
        let all = session.minutes();
        match self.status {
            Some(AttendanceStatus::Present) => self.minutes.map_or(all, |minutes| minutes.min(all)),
            _ => 0,
        }
    }

    /// The whole minutes from the start of `session` to the scan; `None` before it, and if its time is not known.
    pub fn late(&self, session: &CourseSession) -> Option<u64> {
        let at = self.at.filter(|at| *at >= session.start_at)?;
        Some(at.since(session.start_at).as_secs() / 60)
    }
}

/// Whether the time `one` of a scan is before that of `other`; a known time is before an unknown one.
fn is_earlier(one: Option<Instant>, other: Option<Instant>) -> bool {
    one.is_some_and(|one| other.is_none_or(|other| one < other))
}

/// The marks of one person for a course.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Marks(pub BTreeMap<CourseSessionId, Mark>);

impl Marks {
    /// As the person may see them: without notes, the accounts of those who marked, and marks without status.
    #[must_use]
    pub fn of_own(&self) -> Self {
        let shown = self.0.iter().filter(|(_, mark)| mark.status.is_some());
        Self(shown.map(|(id, mark)| (*id, Mark { note: None, by: None, ..mark.clone() })).collect())
    }

    /// The minutes that are credited, of those of `sessions` that are not cancelled.
    pub fn minutes(&self, sessions: &CourseSessions) -> u32 {
        let credit =
            |session: &CourseSession| Some(self.0.get(&session.session_id)?.credit(session));
        sessions.held().filter_map(credit).sum()
    }

    /// The accounts of those who marked.
    pub fn markers(&self) -> impl Iterator<Item = UserId> {
        self.0.values().filter_map(|mark| mark.by)
    }

    /// The same without the accounts of markers that are not `shown`.
    #[must_use]
    pub fn by_those(mut self, shown: impl Fn(UserId) -> bool) -> Self {
        self.0.values_mut().for_each(|mark| mark.by = mark.by.filter(|id| shown(*id)));
        self
    }
}

/// The time of a scan that a phone had as `at`, when it sent it at `sent_at` by its clock and it was received at `received`:
/// moved by the error of its clock, if that is more than 5 seconds. `None` for a time after the receipt or before `earliest`.
pub fn scanned_at(
    at: Instant,
    sent_at: Instant,
    received: Instant,
    earliest: Instant,
) -> Option<Instant> {
    const TOLERANCE_MS: i64 = 5000;
    let error = received.unix_milliseconds() - sent_at.unix_milliseconds();
    let moved = if error.abs() > TOLERANCE_MS {
        Instant::from_unix_milliseconds(at.unix_milliseconds().saturating_add(error))
    } else {
        at
    };
    let is_known = moved.unix_milliseconds() <= received.unix_milliseconds() + TOLERANCE_MS
        && moved >= earliest;
    is_known.then(|| moved.min(received))
}
