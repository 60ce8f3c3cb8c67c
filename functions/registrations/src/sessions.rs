//! `PUT /registrations/{courseId}/sessions`: replaces the sessions of a course, and who may mark attendance. The dates of the
//! course become those of its sessions.

use std::collections::BTreeSet;

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, FieldError, Fields, Input, InvalidField, InvalidValue, Message,
    Now, Path, Permitted, course_rights::changeable, flag, input, integer, rights::WriteCourses,
    success, text,
};
use domain::{
    Constraint, CourseId, CourseSessionId, Hint, Instant, UserId,
    attendance::{CourseSession, CourseSessionView, CourseSessions, MAX_MARKERS, MAX_SESSIONS},
    audit::{AuditedAction, PlannedSessions},
    course::{Course, CourseSummary},
    user::User,
};
use identity::random;
use serde::Serialize;
use store::{CourseTerms, Part, StoreError};

use crate::Registrations;

input! {
    /// The longest texts fit also when each letter is escaped.
    pub(crate) struct SessionsRequest: 524_288 {
        /// A new one has the id [`CourseSessionId::NONE`].
        sessions: Vec<CourseSession> = group(submitted_sessions),
        /// `None` keeps those that are stored.
        markers: Option<Vec<UserId>> = texts("markers", None, MAX_MARKERS),
        /// The version of the course that the change is based on.
        version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

fn submitted_sessions(fields: &mut Fields) -> Result<Vec<CourseSession>, InvalidField> {
    let sessions = fields.any_objects("sessions", MAX_SESSIONS, submitted_session)?;
    let mut named = BTreeSet::new();
    let repeated = sessions.iter().position(|session| {
        session.session_id != CourseSessionId::NONE && !named.insert(session.session_id)
    });
    if let Some(place) = repeated {
        let field = format!("sessions[{place}].sessionID");
        return Err(fields.reject(&field, ErrorCode::FieldValue));
    }
    if let Err(place) = CourseSessions::new(sessions.clone()) {
        let field = format!("sessions[{place}].startAt");
        return Err(fields.reject(&field, ErrorCode::SessionsOverlap));
    }
    Ok(sessions)
}

fn submitted_session(fields: &mut Fields) -> Result<CourseSession, InvalidField> {
    let session_id = fields.nullable("sessionID", text);
    if session_id == Ok(Some(CourseSessionId::NONE)) {
        fields.reject("sessionID", ErrorCode::SessionNotFound);
    }
    let title = fields.nullable("title", text);
    let start_at = fields.required("startAt", text::<Instant>);
    let end_at = fields.required("endAt", text::<Instant>);
    let location = fields.nullable("location", text);
    let trainers = fields.texts("trainers", None, CourseSession::MAX_TRAINERS);
    let cancelled = fields.optional_or("cancelled", flag, false);
    if let (Ok(start), Ok(end)) = (start_at, end_at) {
        let (earliest, latest) =
            (start.after(CourseSession::SHORTEST), start.after(CourseSession::LONGEST));
        if !(earliest..=latest).contains(&end) {
            let constraint = Constraint {
                earliest: Some(earliest),
                latest: Some(latest),
                hint: Some(Hint::SessionEnd),
                ..Constraint::format("date-time")
            };
            fields.reject("endAt", InvalidValue { code: ErrorCode::FieldValue, constraint });
        }
    }
    Ok(CourseSession {
        session_id: session_id?.unwrap_or(CourseSessionId::NONE),
        title: title?,
        start_at: start_at?,
        end_at: end_at?,
        location: location?,
        trainers: trainers?.unwrap_or_default(),
        cancelled: cancelled?,
    })
}

#[derive(Serialize)]
pub(crate) struct SessionsResponse {
    sessions: Vec<CourseSessionView>,
    markers: Vec<UserId>,
    /// Of the course.
    version: u64,
}

/// A session that has marks can be changed and cancelled, not removed. Without sessions the course keeps its dates.
pub(crate) async fn replace(
    State(registrations): State<Registrations>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
    Input(request): Input<SessionsRequest>,
) -> ApiResult<SessionsResponse> {
    let actor = &writer.person.user;
    let attempt = || async {
        let before = registrations.course(id, &writer.person, changeable).await?;
        let (sessions, markers) = registrations.checked_sessions(&request, &before, now).await?;
        let summary = &before.course.summary;
        if before.settings.cancelled_at.is_some() {
            return Err(ErrorCode::CourseCancelled.into());
        }
        if request.version.is_some_and(|version| version != summary.version) {
            return Err(ErrorCode::VersionConflict.into());
        }
        let course = dated(&before.course, &sessions, now);
        let mut after = before.clone();
        after.course = course;
        after.sessions.sessions = sessions;
        let (stored, sessions) = (&before.sessions, &after.sessions.sessions);
        let mut tx = registrations.store.transaction();
        tx.set_sessions(summary, &after.course, stored, sessions, &markers);
        tx.reschedule(summary, &before.schedule(), &after.schedule(), now);
        let was = PlannedSessions::new(&stored.sessions, &stored.markers);
        let is = PlannedSessions::new(sessions, &markers);
        let audited = AuditedAction::of_sessions(summary, &was, &is);
        tx.record_audit(&audited.by(actor, random::id(now), now));
        let version = after.course.summary.version;
        let sessions = after.sessions.sessions.into_iter().map(CourseSessionView::from).collect();
        Ok::<_, ApiError>((tx, SessionsResponse { sessions, markers, version }))
    };
    let has_marks = |part| (part == Part::Sessions).then(|| ErrorCode::SessionHasMarks.into());
    success(Message::SessionsUpdated, registrations.store.update(attempt, has_marks).await?)
}

/// The `course` with the dates of `sessions`, if there are any.
fn dated(course: &Course, sessions: &CourseSessions, now: Instant) -> Course {
    course.changed(now, |course| {
        if let Some((start, end)) = sessions.dates() {
            let content = &mut course.summary.content;
            (content.start_at, content.end_at) = (Some(start), Some(end));
        }
    })
}

impl Registrations {
    /// The sessions and markers that `request` makes of those of the course `before`.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND_MESSAGE` and `MARKER_INVALID_MESSAGE` of each that is wrong.
    async fn checked_sessions(
        &self,
        request: &SessionsRequest,
        before: &CourseTerms,
        now: Instant,
    ) -> Result<(CourseSessions, Vec<UserId>), ApiError> {
        let stored = &before.sessions;
        let mut errors = Vec::new();
        for (place, session) in request.sessions.iter().enumerate() {
            let id = session.session_id;
            if id != CourseSessionId::NONE && stored.sessions.get(id).is_none() {
                let field = format!("sessions[{place}].sessionID");
                errors.push(FieldError::new(field, ErrorCode::SessionNotFound));
            }
        }
        let markers = match &request.markers {
            Some(markers) => {
                for place in self.invalid_markers(markers, &before.course.summary).await? {
                    let field = format!("markers[{place}]");
                    errors.push(FieldError::new(field, ErrorCode::MarkerInvalid));
                }
                let mut seen = BTreeSet::new();
                markers.iter().copied().filter(|marker| seen.insert(*marker)).collect()
            }
            None => stored.current_markers(&self.store).await?,
        };
        if !errors.is_empty() {
            return Err(ApiError::fields(errors));
        }
        let mut sessions = request.sessions.clone();
        for session in sessions.iter_mut().filter(|one| one.session_id == CourseSessionId::NONE) {
            session.session_id = CourseSessionId::new(random::id(now));
        }
        let sessions = CourseSessions::new(sessions);
        Ok((sessions.map_err(|_| ErrorCode::SessionsOverlap)?, markers))
    }

    /// The places of those of `markers` who may not mark the attendance of `course`.
    async fn invalid_markers(
        &self,
        markers: &[UserId],
        course: &CourseSummary,
    ) -> Result<Vec<usize>, StoreError> {
        let different: BTreeSet<UserId> = markers.iter().copied().collect();
        let different: Vec<UserId> = different.into_iter().collect();
        let users = self.store.current_accounts(&different).await?;
        let is_valid = |user: &User| course.is_marked_by(user);
        let valid: BTreeSet<UserId> =
            users.into_iter().filter(is_valid).map(|user| user.user_id).collect();
        let places = markers.iter().enumerate().filter(|(_, marker)| !valid.contains(marker));
        Ok(places.map(|(place, _)| place).collect())
    }
}
