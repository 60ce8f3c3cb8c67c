//! `GET /registrations/{courseId}/availability`: says whether the caller can register, and what they would get.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Now, Path, SignedIn, course_rights::visible, ok};
use domain::{
    CourseId,
    registration::{Audience, Availability},
};
use serde::Serialize;
use store::CourseTerms;

use crate::Registrations;

#[derive(Serialize)]
pub(crate) struct AvailabilityResponse {
    availability: AvailabilityView,
}

#[derive(Serialize)]
struct AvailabilityView {
    #[serde(flatten)]
    availability: Availability,
    /// Whether the caller may register at all.
    eligible: bool,
    /// Why not.
    reason: Option<&'static str>,
}

pub(crate) async fn show(
    State(registrations): State<Registrations>,
    Now(now): Now,
    person: SignedIn,
    Path(id): Path<CourseId>,
) -> ApiResult<AvailabilityResponse> {
    let course = registrations.course(id, &person, visible).await?;
    let (summary, settings) = (&course.course.summary, &course.settings);
    let (standing, is_open) = tokio::try_join!(
        registrations.store.standing(id, &person.user),
        registrations.is_open(summary.committee_id, &person)
    )?;
    let status = settings.status(summary, &standing.seats, is_open, now);
    let mine = standing.own.map(|own| own.registration.card.state);
    let reason = eligibility(&course, &person).err().map(ErrorCode::code);
    let availability = AvailabilityView {
        availability: settings.availability(summary, &standing.seats, status, mine),
        eligible: reason.is_none(),
        reason,
    };
    ok(AvailabilityResponse { availability })
}

/// What a registration of `person` for `course` is refused for, whatever its seats and settings.
fn eligibility(course: &CourseTerms, person: &SignedIn) -> Result<(), ErrorCode> {
    person.require_verified()?;
    person.require_active_committee()?;
    require_audience(course, person)
}

/// # Errors
/// `REGISTRATION_AUDIENCE_MESSAGE` for a course that takes members of its committee alone, of another committee.
pub(crate) fn require_audience(course: &CourseTerms, person: &SignedIn) -> Result<(), ErrorCode> {
    let is_member = course.course.summary.committee_id == person.user.committee_id;
    match course.settings.audience {
        Audience::Committee if !is_member => Err(ErrorCode::RegistrationAudience),
        _ => Ok(()),
    }
}
