//! `DELETE /courses/{courseId}`: archives a course. Only its writers can still read it.

use axum::extract::State;
use common::{
    ApiResult, Message, Now, Path, Permitted, course_rights::writable, rights::WriteCourses,
    success,
};
use domain::{CourseId, course::CourseState};

use crate::{CourseResponse, Courses};

pub(crate) async fn archive(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
) -> ApiResult<CourseResponse> {
    let (course, _) =
        courses.transition(id, CourseState::Archived, &writer.person, now, writable).await?;
    success(Message::CourseArchived, CourseResponse { course })
}
