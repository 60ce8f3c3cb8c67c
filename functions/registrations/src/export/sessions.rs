//! The columns of the sessions of a course: who attended them, and their certificates.

use domain::{
    Zone,
    attendance::{Attendance, AttendanceStatus, CourseSession, CourseSessions, Mark, Marks},
    certificate::CertificateSummary,
    registration::HeadingLanguage,
};

use super::{
    sheet::Cell,
    shown,
    words::{CANCELLED, SESSION, SUMS, status},
};

/// The headings of `sessions`, of the sums and of certificates; none without sessions.
pub(super) fn headings(
    sessions: &CourseSessions,
    language: HeadingLanguage,
    zone: &Zone,
) -> Vec<String> {
    if sessions.is_empty() {
        return Vec::new();
    }
    let heading = |session: &CourseSession| {
        let at = shown(zone, session.start_at);
        let heading = match &session.title {
            Some(title) => format!("{title} – {at}"),
            None => SESSION.written_in(language).replace("{at}", &at),
        };
        if session.cancelled {
            format!("{heading} {}", CANCELLED.written_in(language))
        } else {
            heading
        }
    };
    let sums = SUMS.map(|sum| sum.written_in(language).to_owned());
    sessions.iter().map(heading).chain(sums).collect()
}

/// The cells of a person with `marks` and `certificate` below those headings.
pub(super) fn cells(
    sessions: &CourseSessions,
    marks: &Marks,
    certificate: Option<CertificateSummary>,
    language: HeadingLanguage,
) -> Vec<Cell> {
    if sessions.is_empty() {
        return Vec::new();
    }
    let attendance = Attendance::new(sessions, marks);
    let text = |text: Option<String>| text.map_or(Cell::Empty, Cell::Text);
    let sums = [
        Cell::Hours(f64::from(attendance.minutes) / 60.0),
        Cell::Number(attendance.percent.to_string()),
        text(certificate.as_ref().map(|one| one.code.grouped())),
        text(certificate.map(|one| status(one.status).written_in(language).to_owned())),
    ];
    let cell = |session: &CourseSession| {
        let mark = marks.0.get(&session.session_id);
        text(mark.and_then(|mark| attended(session, mark)))
    };
    sessions.iter().map(cell).chain(sums).collect()
}

/// What `mark` says about `session`, such as `P +12`; `None` if it was removed.
fn attended(session: &CourseSession, mark: &Mark) -> Option<String> {
    let mut text = match mark.status? {
        AttendanceStatus::Absent => return Some("A".to_owned()),
        AttendanceStatus::Excused => return Some("E".to_owned()),
        AttendanceStatus::Present => "P".to_owned(),
    };
    let credit = mark.credit(session);
    if credit < session.minutes() {
        text += &format!(" {credit} min");
    }
    if let Some(late) = mark.late(session).filter(|late| *late > 0) {
        text += &format!(" +{late}");
    }
    Some(text)
}
