//! `DELETE /courses/{courseId}`: a course leaves the lists; its writers may still read it.

use axum::extract::State;
use common::{Message, Now, Path, Refusal, Reply, told};
use domain::{CourseId, course::State as Stage};
use store::Outcome;

use crate::{Courses, Shown, rights::Writer};

pub(crate) async fn archive(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Writer,
    Path(id): Path<CourseId>,
) -> Reply<Shown> {
    for _ in 0..crate::TRIES {
        let before = writer.owns(courses.store.course(id).await?)?;
        if before.outline.state == Stage::Archived {
            return told(Message::CourseArchived, Shown { course: before });
        }
        let (after, archive) =
            courses.brought(&before, Stage::Archived, writer.0.user.user_id, now)?;
        if archive.commit().await? == Outcome::Done {
            return told(Message::CourseArchived, Shown { course: after });
        }
    }
    Err(Refusal::Conflict.into())
}
