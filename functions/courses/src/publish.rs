//! `GET` and `POST /courses/{courseId}/publish`: every account finds the course from now on.

use axum::extract::State;
use common::{Message, Now, Path, Reply, told};
use domain::{CourseId, course::State as Stage};

use crate::{Courses, Shown, rights::Publisher};

/// That the committee is active is part of the transaction: one that is being closed publishes nothing.
pub(crate) async fn publish(
    State(courses): State<Courses>,
    Now(now): Now,
    publisher: Publisher,
    Path(id): Path<CourseId>,
) -> Reply<Shown> {
    let allowed = |course| publisher.publishes(course);
    let (course, was_moved) = courses
        .bring(id, Stage::Published, &publisher.0, now, allowed)
        .await?;
    let message = if was_moved {
        Message::CoursePublished
    } else {
        Message::AlreadyPublished
    };
    told(message, Shown { course })
}
