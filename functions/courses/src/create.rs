//! `POST /courses`: a writer begins a course in the own committee.

use axum::extract::State;
use common::{Input, Message, Now, Permitted, Reply, rights::WriteCourses, told};
use domain::CourseId;
use identity::chance;
use store::{Fault, Outcome};

use crate::{CourseResponse, Courses, content::Content};

pub(crate) async fn create(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Input(content): Input<Content>,
) -> Reply<CourseResponse> {
    let course = content.begun(CourseId::new(chance::id(now)), &writer.person.user, now);
    let mut create = courses.store.transaction();
    create.new_course(&course);
    match create.commit().await? {
        Outcome::Done => told(Message::CourseCreated, CourseResponse { course }),
        Outcome::Refused(_) => Err(Fault::Broken("a new identifier was taken".to_owned()).into()),
    }
}
