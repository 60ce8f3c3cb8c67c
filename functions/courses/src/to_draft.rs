//! `GET` and `POST /courses/{courseId}/to-draft`: only the writers of its committee see the course again.

use axum::extract::State;
use common::{Message, Now, Path, Reply, told};
use domain::{CourseId, course::State as Stage};

use crate::{Courses, Shown, rights::Publisher};

pub(crate) async fn to_draft(
    State(courses): State<Courses>,
    Now(now): Now,
    publisher: Publisher,
    Path(id): Path<CourseId>,
) -> Reply<Shown> {
    let allowed = |course| publisher.publishes(course);
    let (course, _) = courses
        .bring(id, Stage::Draft, &publisher.0, now, allowed)
        .await?;
    told(Message::CourseReturned, Shown { course })
}
