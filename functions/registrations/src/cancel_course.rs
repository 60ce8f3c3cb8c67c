//! `POST /registrations/{courseId}/cancel-course`: cancels a course, for good. The worker then cancels its registrations.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted,
    course_rights::{may_write, publishable},
    input,
    rights::PublishCourses,
    success, text,
};
use domain::{
    CourseId,
    audit::{Action, AuditedAction, values},
    registration::{Reason, RegistrationSettings, SettingsView},
};
use identity::random;
use serde::Serialize;
use store::CourseTerms;

use crate::Registrations;

input! {
    pub(crate) struct CancelCourseRequest: 262_144 {
        reason: Reason = required("reason", text),
    }
}

#[derive(Serialize)]
pub(crate) struct CancelCourseResponse {
    registration: SettingsView,
}

/// A cancelled course keeps its first reason.
pub(crate) async fn cancel_course(
    State(registrations): State<Registrations>,
    Now(now): Now,
    publisher: Permitted<PublishCourses>,
    Path(id): Path<CourseId>,
    Input(request): Input<CancelCourseRequest>,
) -> ApiResult<CancelCourseResponse> {
    let attempt = || async {
        let terms = registrations.course(id, &publisher.person, publishable).await?;
        let (course, before) = (&terms.course.summary, &terms.settings);
        let mut tx = registrations.store.transaction();
        if before.cancelled_at.is_some() {
            return Ok((tx, terms));
        }
        // People have attended it.
        if course.has_ended(now) {
            return Err(ErrorCode::CourseEnded.into());
        }
        let after = RegistrationSettings {
            cancelled_at: Some(now),
            cancel_reason: Some(request.reason.clone()),
            updated_at: Some(now),
            ..before.clone()
        };
        tx.set_registration_settings(course, before, &after, now);
        let reason = values([("reason", request.reason.as_str().into())]);
        let cancelled = AuditedAction::of_course(Action::CourseCancelled, course, reason);
        tx.record_audit(&cancelled.by(&publisher.person.user, random::id(now), now));
        Ok::<_, ApiError>((tx, CourseTerms { settings: after, ..terms }))
    };
    let terms = registrations.store.update(attempt, |_| None).await?;
    let is_writer = may_write(&terms.course.summary, &publisher.person);
    let view = terms.sessions.settings_view(&registrations.store, terms.settings, is_writer);
    let registration = view.await?;
    success(Message::CourseCancelled, CancelCourseResponse { registration })
}
