//! `GET /courses/committee`: lists the courses of the caller's committee that the caller may read.

use axum::extract::State;
use common::{ApiResult, Filtered, Listed, Now, Verified, choice, input, ok};
use domain::{
    course::{Course, CourseState, Include},
    permissions::{Reach, Right},
    user::User,
};
use store::CourseList;

use crate::{Courses, listed::ListedCourse};

input! {
    pub(crate) struct CommitteeCoursesQuery {
        state: Option<CourseState> = optional("state", choice),
        include: Option<Include> = nullable("include", choice),
    }
}

/// Sorted by last change, newest first. Archived courses are listed only with `state=ARCHIVED`.
pub(crate) async fn list(
    State(courses): State<Courses>,
    Now(now): Now,
    Verified(person): Verified,
    Filtered(paging, filter): Filtered<CommitteeCoursesQuery>,
) -> ApiResult<Listed<ListedCourse<Course>>> {
    let lists = filter.lists(&person.user);
    let list = paging.open(&courses.cursors, &lists)?;
    let mut page = courses.store.courses(&lists, list.position(), list.limit).await?;
    // The list of an author also contains drafts of a former committee.
    page.items.retain(|course| course.summary.committee_id == person.user.committee_id);
    let page = courses.listed(page, filter.include, &person, now).await?;
    ok(list.listed("courses", page)?)
}

impl CommitteeCoursesQuery {
    /// The lists with the courses that `user` may read: published ones, and the others as far as their rights reach.
    fn lists(&self, user: &User) -> Vec<CourseList> {
        let (rights, committee) = (user.rights(), user.committee_id);
        let unpublished = |right, state| match rights.reach(right) {
            Reach::Nowhere => None,
            Reach::Own => Some(CourseList::OfAuthor(user.user_id, state)),
            Reach::Committee | Reach::Everywhere => Some(CourseList::OfCommittee(committee, state)),
        };
        let published = || Some(CourseList::OfCommittee(committee, CourseState::Published));
        let lists = match self.state {
            None => [published(), unpublished(Right::ReadDrafts, CourseState::Draft)],
            Some(CourseState::Published) => [published(), None],
            Some(CourseState::Draft) => [unpublished(Right::ReadDrafts, CourseState::Draft), None],
            Some(CourseState::Archived) => {
                [unpublished(Right::WriteCourses, CourseState::Archived), None]
            }
        };
        lists.into_iter().flatten().collect()
    }
}
