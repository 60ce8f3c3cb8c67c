//! `GET /courses/committee`: the courses of the caller's committee that he may read.

use axum::extract::State;
use common::{Asked, Fields, FromFields, Now, Paging, Reply, Verified, shown, text};
use domain::{
    Flaw,
    course::{Course, State as Stage},
    permissions::{Reach, Right},
    user::User,
};
use serde::Serialize;
use store::CourseList;

use crate::Courses;

pub(crate) struct Filter {
    state: Option<Stage>,
}

impl<S> FromFields<S> for Filter {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        let state = fields.optional("state", |value| text(value).map_err(|_| Flaw::Value));
        Some(Self { state: state? })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    courses: Vec<Course>,
    next_cursor: Option<String>,
}

/// Newest change first. Archived ones are shown when they are asked for.
pub(crate) async fn list(
    State(courses): State<Courses>,
    Now(now): Now,
    Verified(person): Verified,
    paging: Paging,
    Asked(filter): Asked<Filter>,
) -> Reply<Shown> {
    let lists = filter.lists(&person.user);
    let list = format!(
        "GET /courses/committee {lists:?} caller={}",
        person.user.user_id
    );
    let position = paging
        .cursor
        .map(|cursor| courses.cursors.read(&cursor, &list, now))
        .transpose()?;
    let mut page = courses
        .store
        .courses(&lists, position.as_deref(), paging.limit)
        .await?;
    // Drafts that somebody took along in his list of own ones from another committee.
    page.items
        .retain(|course| course.outline.committee_id == person.user.committee_id);
    let next_cursor = page
        .last
        .map(|position| courses.cursors.write(&position, &list, now))
        .transpose()?;
    shown(Shown {
        courses: page.items,
        next_cursor,
    })
}

impl Filter {
    /// The lists that hold what `user` may read: published courses, drafts and archived ones as far as he may.
    fn lists(&self, user: &User) -> Vec<CourseList> {
        let (standing, committee) = (user.standing(), user.committee_id);
        let unpublished = |right, stage| match standing.reach(right) {
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
