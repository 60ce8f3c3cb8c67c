//! `GET` and `POST /courses/{courseId}/to-draft`: the course is seen by its committee's writers alone again.

use axum::extract::State;
use common::{Message, Now, Path, Refusal, Reply, told};
use domain::{CourseId, audit::AuditEntry, course::State as Stage};
use identity::chance;
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
        let after = before.brought_to(Stage::Draft, now);
        let mut take_back = courses.store.transaction();
        take_back.change_course(&before.outline, &after)?;
        take_back.note(&AuditEntry::of_course(chance::id(now), publisher.0.user.user_id, &before.outline, Stage::Draft, now))?;
        if take_back.commit().await? == Outcome::Done {
            return told(Message::CourseReturned, Shown { course: after });
        }
    }
    Err(Refusal::Conflict.into())
}
