//! `POST /courses`: creates a draft in the caller's committee.

use axum::extract::State;
use common::{ApiResult, Message, Now, Once, Permitted, rights::WriteCourses};
use domain::CourseId;
use identity::random;

use crate::{CourseResponse, Courses, content::Content};

pub(crate) async fn create(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Once(content, key): Once<Content>,
) -> ApiResult<CourseResponse> {
    let course = content.into_draft(CourseId::new(random::id(now)), &writer.person.user, now);
    let mut tx = courses.store.transaction();
    tx.new_course(&course, Vec::new());
    let (store, message) = (&courses.store, Message::CourseCreated);
    let created = key.commit(store, tx, message, course, now, |part| part.unexpected().into());
    Ok(created.await?.map(|course| CourseResponse { course }))
}
