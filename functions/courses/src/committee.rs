//! `GET /courses/committee`: lists the courses of the caller's committee that the caller may read.

use axum::extract::State;
use common::{ApiResult, Now, Paging, QueryInput, Verified, choice, input, ok};
use domain::{
    course::{Course, State as Stage},
    permissions::{Reach, Right},
    user::User,
};
use serde::Serialize;
use store::CourseList;

use crate::Courses;

input! {
    pub(crate) struct CommitteeCoursesQuery {
        state: Option<Stage> = optional("state", choice),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CoursesResponse {
    courses: Vec<Course>,
    next_cursor: Option<String>,
}

/// Sorted by last change, newest first. Archived courses are listed only with `state=ARCHIVED`.
pub(crate) async fn list(
    State(courses): State<Courses>,
    Now(now): Now,
    Verified(person): Verified,
    paging: Paging,
    QueryInput(filter): QueryInput<CommitteeCoursesQuery>,
) -> ApiResult<CoursesResponse> {
    let lists = filter.lists(&person.user);
    let list = format!("GET /courses/committee {lists:?} caller={}", person.user.user_id);
    let list = paging.open(&courses.cursors, list, now)?;
    let mut page = courses.store.courses(&lists, list.position(), list.limit).await?;
    // The list of an author also contains drafts of a former committee.
    page.items.retain(|course| course.outline.committee_id == person.user.committee_id);
    let next_cursor = list.next_cursor(page.last)?;
    ok(CoursesResponse { courses: page.items, next_cursor })
}

impl CommitteeCoursesQuery {
    /// The lists with the courses that `user` may read: published ones, and the others as far as their rights reach.
    fn lists(&self, user: &User) -> Vec<CourseList> {
        let (rights, committee) = (user.rights(), user.committee_id);
        let unpublished = |right, stage| match rights.reach(right) {
            Reach::Nowhere => None,
            Reach::Own => Some(CourseList::OfAuthor(user.user_id, stage)),
            Reach::Committee | Reach::Everywhere => Some(CourseList::OfCommittee(committee, stage)),
        };
        let published = || Some(CourseList::OfCommittee(committee, Stage::Published));
        let lists = match self.state {
            None => [published(), unpublished(Right::ReadDrafts, Stage::Draft)],
            Some(Stage::Published) => [published(), None],
            Some(Stage::Draft) => [unpublished(Right::ReadDrafts, Stage::Draft), None],
            Some(Stage::Archived) => [unpublished(Right::WriteCourses, Stage::Archived), None],
        };
        lists.into_iter().flatten().collect()
    }
}
