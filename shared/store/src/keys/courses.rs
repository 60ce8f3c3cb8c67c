//! The keys of courses, their questions and their search entries.

use domain::{
    CommitteeId, CourseId, Instant, QuestionId, UserId,
    course::{CourseSummary, State},
};

use super::{AUTHORED, IndexKey, Key, LISTING, PUBLISHED, USER_PREFIX, records};

pub(crate) fn course(id: CourseId) -> Key {
    records(format!("{COURSE_PREFIX}{id}"), "COURSE")
}

pub(crate) const COURSE_PREFIX: &str = "COURSE#";

/// The ordered identifiers of a course's questions.
pub(crate) fn order(course: CourseId) -> Key {
    records(format!("{COURSE_PREFIX}{course}"), "ORDER")
}

pub(crate) fn question(course: CourseId, id: QuestionId) -> Key {
    records(format!("{COURSE_PREFIX}{course}"), &format!("QUESTION#{id}"))
}

/// Courses of a committee in one state, by last change.
pub(crate) fn course_index_key(course: &CourseSummary) -> IndexKey {
    IndexKey {
        index: &LISTING,
        pk: courses_of(course.committee_id, course.state),
        sk: change_of(course),
    }
}

/// Courses of an author in one state, by last change.
pub(crate) fn authored_index_key(course: &CourseSummary) -> IndexKey {
    IndexKey {
        index: &AUTHORED,
        pk: courses_by(course.created_by, course.state),
        sk: change_of(course),
    }
}

/// All published courses, by first publication; `None` while the course is not published.
pub(crate) fn published_index_key(course: &CourseSummary) -> Option<IndexKey> {
    let published_at = course.published_at.filter(|_| course.state == State::Published)?;
    Some(IndexKey {
        index: &PUBLISHED,
        pk: PUBLISHED_COURSES.to_owned(),
        sk: publication_sort_key(published_at, course.course_id),
    })
}

pub(crate) fn courses_of(committee: CommitteeId, state: State) -> String {
    format!("COMMITTEE#{committee}#COURSES#{}", state.code())
}

pub(crate) fn courses_by(author: UserId, state: State) -> String {
    format!("{USER_PREFIX}{author}#COURSES#{}", state.code())
}

pub(crate) fn change_of(course: &CourseSummary) -> String {
    format!("{}#{}", course.updated_at, course.course_id)
}

pub(super) fn publication_sort_key(published_at: Instant, id: CourseId) -> String {
    format!("{published_at}#{id}")
}

pub(crate) const PUBLISHED_COURSES: &str = "PUBLISHED";

/// The list in the index `due` of courses whose search entries are to be updated.
pub const WORDS_DUE: &str = "WORDS";
