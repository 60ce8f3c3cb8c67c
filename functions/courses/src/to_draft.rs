//! `GET` and `POST /courses/{courseId}/to-draft`: makes a published course a draft again.

use axum::extract::State;
use common::{
    ApiResult, Message, Now, Path, Permitted, course_rights::publishable, rights::PublishCourses,
    success,
};
use domain::{CourseId, course::CourseState};

use crate::{CourseResponse, Courses};

pub(crate) async fn to_draft(
    State(courses): State<Courses>,
    Now(now): Now,
    publisher: Permitted<PublishCourses>,
    Path(id): Path<CourseId>,
) -> ApiResult<CourseResponse> {
    let (course, _) =
        courses.transition(id, CourseState::Draft, &publisher.person, now, publishable).await?;
    success(Message::CourseReturned, CourseResponse { course })
}
