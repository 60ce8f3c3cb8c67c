//! `GET /courses/{courseId}`: returns a course with its questions and the settings of its registrations.

use axum::extract::State;
use common::{
    ApiResult, Path, SignedIn,
    course_rights::{may_write, visible},
    ok,
};
use domain::{CourseId, registration::RegistrationState};

use crate::{Courses, ShowCourseResponse};

pub(crate) async fn show(
    State(courses): State<Courses>,
    person: SignedIn,
    Path(id): Path<CourseId>,
) -> ApiResult<ShowCourseResponse> {
    let mut response = ShowCourseResponse::from(courses.full(id, &person, visible).await?);
    let summary = &response.course.summary;
    if response.registration.join_info.is_some() && !may_write(summary, &person) {
        let own = courses.store.registration(id, person.user.user_id).await?;
        if own.is_none_or(|own| own.card.state != RegistrationState::Confirmed) {
            response.registration.join_info = None;
        }
    }
    ok(response)
}
