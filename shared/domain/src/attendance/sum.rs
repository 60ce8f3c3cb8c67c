//! The attendance of one person as responses show it.

use serde::Serialize;

use super::{AttendanceStatus, CourseSession, CourseSessions, Mark, MarkSource, Marks};
use crate::{CourseSessionId, Instant, Line, UserId};

/// A mark as responses show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkView {
    #[serde(rename = "sessionID")]
    session_id: CourseSessionId,
    status: Option<AttendanceStatus>,
    at: Option<Instant>,
    late: Option<u64>,
    minutes: u32,
    source: MarkSource,
    note: Option<Line<200>>,
    version: u64,
    updated_at: Instant,
    /// Who made it, as [`Mark::by`].
    pub by: Option<UserId>,
}

impl MarkView {
    /// The view of `mark` for `session`.
    pub fn new(session: &CourseSession, mark: &Mark) -> Self {
        Self {
            session_id: session.session_id,
            status: mark.status,
            at: mark.at,
            late: mark.late(session),
            minutes: mark.credit(session),
            source: mark.source,
            note: mark.note.clone(),
            version: mark.version,
            updated_at: mark.updated_at,
            by: mark.by,
        }
    }
}

/// The marks of a person for a course, and their sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attendance {
    /// The minutes that count.
    pub minutes: u32,
    /// The minutes of all sessions that are not cancelled; `None` in a list that has them once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_minutes: Option<u32>,
    /// `minutes` of `total_minutes` in percent, rounded down; 0 without minutes.
    pub percent: u32,
    marks: Vec<MarkView>,
}

impl Attendance {
    /// The attendance of the person with `marks` for `sessions`.
    pub fn new(sessions: &CourseSessions, marks: &Marks) -> Self {
        let marked =
            || sessions.iter().filter_map(|one| Some((one, marks.0.get(&one.session_id)?)));
        let minutes = marks.minutes(sessions);
        let total = sessions.minutes();
        Self {
            minutes,
            total_minutes: Some(total),
            percent: (minutes * 100).checked_div(total).unwrap_or_default(),
            marks: marked().map(|(session, mark)| MarkView::new(session, mark)).collect(),
        }
    }

    /// The same without the minutes of all sessions, for a list that has them once.
    #[must_use]
    pub fn in_list(self) -> Self {
        Self { total_minutes: None, ..self }
    }
}
