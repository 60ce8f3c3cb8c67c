//! `DELETE /courses/{courseId}`: a course leaves the lists; its writers may still read it.

use axum::extract::State;
use common::{Message, Now, Path, Permitted, Reply, rights::WriteCourses, told};
use domain::{CourseId, course::State as Stage};

use crate::{CourseResponse, Courses, rights::writable};

pub(crate) async fn archive(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
) -> Reply<CourseResponse> {
    let allowed = |course| writable(course, &writer.person);
    let (course, _) = courses
        .bring(id, Stage::Archived, &writer.person, now, allowed)
        .await?;
    told(Message::CourseArchived, CourseResponse { course })
}
