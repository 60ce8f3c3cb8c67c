//! `DELETE /courses/{courseId}`: a course leaves the lists; its writers may still read it.

use axum::extract::State;
use common::{Message, Now, Path, Refusal, Reply, told};
use domain::{CourseId, audit::AuditEntry, course::State as Stage};
use identity::chance;
use store::Outcome;

use crate::{Courses, Shown, rights::Writer};

pub(crate) async fn archive(State(courses): State<Courses>, Now(now): Now, writer: Writer, Path(id): Path<CourseId>) -> Reply<Shown> {
    for _ in 0..crate::TRIES {
        let before = writer.owns(courses.store.course(id).await?)?;
        if before.outline.state == Stage::Archived {
            return told(Message::CourseArchived, Shown { course: before });
        }
        let after = before.brought_to(Stage::Archived, now);
        let mut archive = courses.store.transaction();
        archive.change_course(&before.outline, &after)?;
        archive.note(&AuditEntry::of_course(chance::id(now), writer.0.user.user_id, &before.outline, Stage::Archived, now))?;
        if archive.commit().await? == Outcome::Done {
            return told(Message::CourseArchived, Shown { course: after });
        }
    }
    Err(Refusal::Conflict.into())
}
