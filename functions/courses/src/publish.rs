//! `GET` and `POST /courses/{courseId}/publish`: makes a course visible to all accounts.

use axum::extract::State;
use common::{
    ApiResult, Message, Now, Path, Permitted, course_rights::publishable, rights::PublishCourses,
    success,
};
use domain::{CourseId, course::CourseState};

use crate::{CourseResponse, Courses};

/// Once the course's committee is closed, no request that begins afterwards publishes it.
pub(crate) async fn publish(
    State(courses): State<Courses>,
    Now(now): Now,
    publisher: Permitted<PublishCourses>,
    Path(id): Path<CourseId>,
) -> ApiResult<CourseResponse> {
    let (course, was_moved) =
        courses.transition(id, CourseState::Published, &publisher.person, now, publishable).await?;
    let message = if was_moved { Message::CoursePublished } else { Message::AlreadyPublished };
    success(message, CourseResponse { course })
}
