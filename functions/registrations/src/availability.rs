//! `GET /registrations/{courseId}/availability`: says whether the caller can register, and what they would get.

use axum::extract::State;
use common::{ApiResult, Now, Path, SignedIn, course_rights::visible, ok};
use domain::{CourseId, registration::Availability};
use serde::Serialize;

use crate::Registrations;

#[derive(Serialize)]
pub(crate) struct AvailabilityResponse {
    availability: Availability,
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
        registrations.store.standing(id, person.user.user_id),
        registrations.is_open(summary.committee_id, &person)
    )?;
    let status = settings.status(summary, &standing.seats, is_open, now);
    let mine = standing.own.map(|own| own.registration.card.state);
    let availability = settings.availability(summary, &standing.seats, status, mine);
    ok(AvailabilityResponse { availability })
}
