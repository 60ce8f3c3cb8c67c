//! `POST /courses`: a writer begins a course in the own committee.

use axum::extract::State;
use common::{ApiResult, Input, Message, Now, Permitted, rights::WriteCourses, success};
use domain::CourseId;
use identity::chance;
use store::{CommitOutcome, StoreError};

use crate::{CourseResponse, Courses, content::Content};

pub(crate) async fn create(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Input(content): Input<Content>,
) -> ApiResult<CourseResponse> {
    let course = content.begun(CourseId::new(chance::id(now)), &writer.person.user, now);
    let mut create = courses.store.transaction();
    create.new_course(&course);
    match create.commit().await? {
        CommitOutcome::Committed => success(Message::CourseCreated, CourseResponse { course }),
        CommitOutcome::ConditionFailed(_) => {
            Err(StoreError::Unexpected("a new identifier was taken".to_owned()).into())
        }
    }
}
