//! Checks what the caller may do with a course.

use domain::{
    course::{Course, CourseState, CourseSummary},
    permissions::Right,
};

use crate::{ErrorCode, SignedIn};

/// The course, if `person` has the right to read courses in its state. Published courses need no verified account.
///
/// # Errors
/// `COURSE_NOT_FOUND_MESSAGE`, or `ACCOUNT_NOT_VERIFIED_MESSAGE` when only the verification is missing.
pub fn visible(course: Option<Course>, person: &SignedIn) -> Result<Course, ErrorCode> {
    let course = course.ok_or(ErrorCode::CourseNotFound)?;
    let state = course.summary.state;
    if !may(person, state.read_right(), &course.summary) {
        Err(ErrorCode::CourseNotFound)
    } else if state == CourseState::Published {
        Ok(course)
    } else {
        person.require_verified().map(|()| course)
    }
}

/// The course, archived or not, if `person` has [`Right::WriteCourses`] on it.
///
/// # Errors
/// As [`visible`], and `FORBIDDEN_MESSAGE` when `person` may only read it.
pub fn writable(course: Option<Course>, person: &SignedIn) -> Result<Course, ErrorCode> {
    permitted(course, person, Right::WriteCourses)
}

/// The course, if `person` may change it.
///
/// # Errors
/// As [`writable`], and `COURSE_ARCHIVED_MESSAGE` when it is archived.
pub fn changeable(course: Option<Course>, person: &SignedIn) -> Result<Course, ErrorCode> {
    not_archived(writable(course, person)?)
}

/// The course, if `person` may publish it or make it a draft again.
///
/// # Errors
/// As [`changeable`].
pub fn publishable(course: Option<Course>, person: &SignedIn) -> Result<Course, ErrorCode> {
    not_archived(issuable(course, person)?)
}

/// The course, archived or not, if `person` may issue its certificates: who may publish it.
///
/// # Errors
/// As [`writable`].
pub fn issuable(course: Option<Course>, person: &SignedIn) -> Result<Course, ErrorCode> {
    permitted(course, person, Right::PublishCourses)
}

fn permitted(course: Option<Course>, person: &SignedIn, right: Right) -> Result<Course, ErrorCode> {
    let course = visible(course, person)?;
    if may(person, right, &course.summary) { Ok(course) } else { Err(ErrorCode::Forbidden) }
}

fn not_archived(course: Course) -> Result<Course, ErrorCode> {
    if course.summary.state == CourseState::Archived {
        Err(ErrorCode::CourseArchived)
    } else {
        Ok(course)
    }
}

/// Whether `person` may write `course`, in any state.
pub fn may_write(course: &CourseSummary, person: &SignedIn) -> bool {
    may(person, Right::WriteCourses, course)
}

fn may(person: &SignedIn, right: Right, course: &CourseSummary) -> bool {
    person.user.rights().may(right, course.created_by, course.committee_id)
}
