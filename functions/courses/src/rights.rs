//! Who may do what with a course.

use axum::extract::FromRequestParts;
use common::{Failure, Refusal, SignedIn, able};
use domain::{
    course::{Course, Outline, State},
    permissions::Right,
};
use http::request::Parts;

/// A verified person of an open committee who may write courses, at least his own.
#[derive(Debug, Clone)]
pub(crate) struct Writer(pub(crate) SignedIn);

/// The same who may publish them.
#[derive(Debug, Clone)]
pub(crate) struct Publisher(pub(crate) SignedIn);

impl<S: Send + Sync> FromRequestParts<S> for Writer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        able(parts, state, Right::WriteCourses).await.map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Publisher {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        able(parts, state, Right::PublishCourses).await.map(Self)
    }
}

/// The course, if `person` may know of it: a published one everybody, a draft who may read drafts, an
/// archived one who may write it.
///
/// # Errors
/// `COURSE_NOT_FOUND_MESSAGE`, or `ACCOUNT_NOT_VERIFIED_MESSAGE` when only that is missing.
pub(crate) fn visible(course: Option<Course>, person: &SignedIn) -> Result<Course, Refusal> {
    let course = course.ok_or(Refusal::CourseNotFound)?;
    let right = match course.outline.state {
        State::Published => return Ok(course),
        State::Draft => Right::ReadDrafts,
        State::Archived => Right::WriteCourses,
    };
    if !may(person, right, &course.outline) {
        return Err(Refusal::CourseNotFound);
    }
    person.must_be_verified().map(|()| course)
}

impl Writer {
    /// The course, if this person may change it.
    ///
    /// # Errors
    /// As [`visible`]; `FORBIDDEN_MESSAGE` for what he may only see, `COURSE_ARCHIVED_MESSAGE` for what nobody
    /// may change.
    pub(crate) fn changes(&self, course: Option<Course>) -> Result<Course, Refusal> {
        let course = self.owns(course)?;
        if course.outline.state == State::Archived {
            Err(Refusal::CourseArchived)
        } else {
            Ok(course)
        }
    }

    /// The course, if this person is one of its writers, archived or not.
    ///
    /// # Errors
    /// As [`visible`], and `FORBIDDEN_MESSAGE`.
    pub(crate) fn owns(&self, course: Option<Course>) -> Result<Course, Refusal> {
        let course = visible(course, &self.0)?;
        if may(&self.0, Right::WriteCourses, &course.outline) {
            Ok(course)
        } else {
            Err(Refusal::Forbidden)
        }
    }
}

impl Publisher {
    /// The course, if this person may publish it or take it back.
    ///
    /// # Errors
    /// As [`Writer::changes`].
    pub(crate) fn publishes(&self, course: Option<Course>) -> Result<Course, Refusal> {
        let course = visible(course, &self.0)?;
        if !may(&self.0, Right::PublishCourses, &course.outline) {
            return Err(Refusal::Forbidden);
        }
        if course.outline.state == State::Archived {
            Err(Refusal::CourseArchived)
        } else {
            Ok(course)
        }
    }
}

fn may(person: &SignedIn, right: Right, course: &Outline) -> bool {
    person
        .user
        .standing()
        .may(right, course.created_by, course.committee_id)
}
