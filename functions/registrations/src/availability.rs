//! `GET /registrations/{courseId}/availability`: says whether the caller can register, and what they would get.

use axum::extract::State;
use common::{
    ApiResult, Now, Path, SignedIn, availability::AvailabilityView, course_rights::visible, ok,
};
use domain::CourseId;
use serde::Serialize;
use store::RegistrationTerms;

use crate::Registrations;

#[derive(Serialize)]
pub(crate) struct AvailabilityResponse {
    availability: AvailabilityView,
}

pub(crate) async fn show(
    State(registrations): State<Registrations>,
    Now(now): Now,
    person: SignedIn,
    Path(id): Path<CourseId>,
) -> ApiResult<AvailabilityResponse> {
    let course = registrations.course(id, &person, visible).await?;
    let summary = &course.course.summary;
    let (standing, is_open) = tokio::try_join!(
        registrations.store.standing(id, &person.user),
        registrations.is_open(summary.committee_id, &person)
    )?;
    let terms = RegistrationTerms {
        settings: course.settings,
        seats: standing.seats,
        own: standing.own.map(|own| own.registration.card.state),
    };
    let availability = AvailabilityView::new(summary, &terms, is_open, &person, now);
    ok(AvailabilityResponse { availability })
}
