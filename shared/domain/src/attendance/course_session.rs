//! The sessions of a course.

use std::{ops::Deref, time::Duration};

use jiff::civil::{DateTime, time};
use serde::{Deserialize, Serialize};

use crate::{CourseSessionId, Instant, Line, Name, Zone};

/// Most sessions of a course.
pub const MAX_SESSIONS: usize = 60;

/// A stretch of time of a course, usually half a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CourseSession {
    /// Identifier.
    #[serde(rename = "sessionID")]
    pub session_id: CourseSessionId,
    /// Title.
    pub title: Option<Line<200>>,
    /// First moment.
    pub start_at: Instant,
    /// Last moment: from [`SHORTEST`](Self::SHORTEST) to [`LONGEST`](Self::LONGEST) later.
    pub end_at: Instant,
    /// Venue; `None`: that of the course.
    pub location: Option<Line<300>>,
    /// Who holds it, at most five.
    pub trainers: Vec<Name>,
    /// Whether it does not take place. It stays visible and counts nowhere.
    pub cancelled: bool,
}

impl CourseSession {
    /// The shortest session.
    pub const SHORTEST: Duration = Duration::from_secs(5 * 60);
    /// The longest one.
    pub const LONGEST: Duration = Duration::from_secs(12 * 3600);
    /// Most trainers.
    pub const MAX_TRAINERS: usize = 5;
    /// A longer one is of two half days, if it begins before 13:00 and ends after it.
    const LONGEST_HALF_DAY: Duration = Duration::from_secs(5 * 3600);

    /// The whole minutes from start to end.
    pub fn minutes(&self) -> u32 {
        let minutes = self.end_at.since(self.start_at).as_secs() / 60;
        minutes.try_into().unwrap_or(u32::MAX)
    }

    /// The starts and ends of its half days, which are one or two, in local time.
    pub fn half_days(&self, zone: &Zone) -> Vec<(DateTime, DateTime)> {
        let (start, end) = (zone.local(self.start_at), zone.local(self.end_at));
        let noon = start.date().to_datetime(time(13, 0, 0, 0));
        let is_long = self.end_at.since(self.start_at) > Self::LONGEST_HALF_DAY;
        if is_long && start < noon && noon < end {
            vec![(start, noon), (noon, end)]
        } else {
            vec![(start, end)]
        }
    }

    /// Whether attendance can be marked at `now`: from its local day on, until `time` after `course_end`.
    pub fn takes_marks(
        &self,
        course_end: Option<Instant>,
        time: Duration,
        zone: &Zone,
        now: Instant,
    ) -> bool {
        zone.day_start(self.start_at) <= now && course_end.is_none_or(|end| now <= end.after(time))
    }
}

/// A session as responses show it.
#[derive(Debug, Clone, Serialize)]
pub struct CourseSessionView {
    #[serde(flatten)]
    session: CourseSession,
    minutes: u32,
}

impl From<CourseSession> for CourseSessionView {
    fn from(session: CourseSession) -> Self {
        Self { minutes: session.minutes(), session }
    }
}

/// The sessions of a course, by start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CourseSessions(Vec<CourseSession>);

impl Deref for CourseSessions {
    type Target = [CourseSession];

    fn deref(&self) -> &[CourseSession] {
        &self.0
    }
}

impl IntoIterator for CourseSessions {
    type Item = CourseSession;
    type IntoIter = std::vec::IntoIter<CourseSession>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl CourseSessions {
    /// The `sessions` by start.
    ///
    /// # Errors
    /// The place among them of a session that begins before another one ends, neither of which is cancelled.
    pub fn new(mut sessions: Vec<CourseSession>) -> Result<Self, usize> {
        let mut held: Vec<(usize, &CourseSession)> =
            sessions.iter().enumerate().filter(|(_, session)| !session.cancelled).collect();
        held.sort_by_key(|(_, session)| session.start_at);
        let overlap = held.windows(2).find(|pair| pair[1].1.start_at < pair[0].1.end_at);
        if let Some(pair) = overlap {
            return Err(pair[1].0);
        }
        sessions.sort_by_key(|session| (session.start_at, session.session_id));
        Ok(Self(sessions))
    }

    /// The session `id`.
    pub fn get(&self, id: CourseSessionId) -> Option<&CourseSession> {
        self.iter().find(|session| session.session_id == id)
    }

    /// Those that are not cancelled.
    pub fn held(&self) -> impl Iterator<Item = &CourseSession> {
        self.iter().filter(|session| !session.cancelled)
    }

    /// The first start and the last end of those that are not cancelled, or of all if all are; `None` without any.
    pub fn dates(&self) -> Option<(Instant, Instant)> {
        let all_are_cancelled = self.held().next().is_none();
        let counted = || self.iter().filter(|one| all_are_cancelled || !one.cancelled);
        let start = counted().map(|session| session.start_at).min()?;
        let end = counted().map(|session| session.end_at).max()?;
        Some((start, end))
    }

    /// The minutes of those that are not cancelled.
    pub fn minutes(&self) -> u32 {
        self.held().map(CourseSession::minutes).sum()
    }
}
