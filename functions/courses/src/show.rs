//! `GET /courses/{courseId}`: returns a course with its questions and the settings of its registrations.

use axum::extract::State;
use common::{
    ApiResult, Path, SignedIn,
    course_rights::{may_write, visible},
    ok,
};
use domain::CourseId;

use crate::{Courses, ShowCourseResponse};

pub(crate) async fn show(
    State(courses): State<Courses>,
    person: SignedIn,
    Path(id): Path<CourseId>,
) -> ApiResult<ShowCourseResponse> {
    let mut response = courses.shown(courses.full(id, &person, visible).await?);
    let summary = &response.course.summary;
    if !may_write(summary, &person) {
        response.registration.join_info = None;
    }
    ok(response)
}
