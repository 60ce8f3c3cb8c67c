//! `GET` and `POST /courses/{courseId}/to-draft`: the course is seen by its committee's writers alone again.

use axum::extract::State;
use common::{Message, Now, Path, Refusal, Reply, told};
use domain::{CourseId, course::State as Stage};
use store::Outcome;

use crate::{Courses, Shown, rights::Publisher};

pub(crate) async fn to_draft(
    State(courses): State<Courses>,
    Now(now): Now,
    publisher: Publisher,
    Path(id): Path<CourseId>,
) -> Reply<Shown> {
    for _ in 0..crate::TRIES {
        let before = publisher.publishes(courses.store.course(id).await?)?;
        if before.outline.state == Stage::Draft {
            return told(Message::CourseReturned, Shown { course: before });
        }
        let (after, take_back) =
            courses.brought(&before, Stage::Draft, publisher.0.user.user_id, now)?;
        if take_back.commit().await? == Outcome::Done {
            return told(Message::CourseReturned, Shown { course: after });
        }
    }
    Err(Refusal::Conflict.into())
}
