//! `DELETE /courses/{courseId}`: a course leaves the lists; its writers may still read it.

use axum::extract::State;
use common::{Message, Now, Path, Reply, told};
use domain::{CourseId, course::State as Stage};

use crate::{Courses, Shown, rights::Writer};

pub(crate) async fn archive(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Writer,
    Path(id): Path<CourseId>,
) -> Reply<Shown> {
    let allowed = |course| writer.owns(course);
    let (course, _) = courses
        .bring(id, Stage::Archived, &writer.0, now, allowed)
        .await?;
    told(Message::CourseArchived, Shown { course })
}
