//! `GET /courses/{courseId}`: returns a course with its questions, the settings of its registrations and its
//! sessions.

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
    let full = courses.full(id, &person, visible).await?;
    let is_writer = may_write(&full.course.summary, &person);
    ok(courses.shown(full, is_writer).await?)
}
