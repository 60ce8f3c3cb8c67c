//! `POST /courses`: creates a draft in the caller's committee.

use axum::extract::State;
use common::{ApiResult, Input, Message, Now, Permitted, rights::WriteCourses, success};
use domain::CourseId;
use identity::random;
use store::{CommitOutcome, StoreError};

use crate::{CourseResponse, Courses, content::Content};

pub(crate) async fn create(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Input(content): Input<Content>,
) -> ApiResult<CourseResponse> {
    let course = content.into_draft(CourseId::new(random::id(now)), &writer.person.user, now);
    let mut tx = courses.store.transaction();
    tx.new_course(&course, Vec::new());
    match tx.commit().await? {
        CommitOutcome::Committed => success(Message::CourseCreated, CourseResponse { course }),
        CommitOutcome::ConditionFailed(_) => {
            Err(StoreError::Unexpected("a new identifier was taken".to_owned()).into())
        }
    }
}
