//! Who may see and change a registration.

use common::{
    ApiError, ErrorCode, Permitted, SignedIn,
    course_rights::{may_write, visible},
    rights::WriteCourses,
};
use domain::{
    CommitteeId, CourseId, UserId,
    course::Course,
    question::Question,
    registration::{Party, Reader},
};
use store::{CourseTerms, FullRegistration, StoreError};

use crate::Registrations;

/// A registration that the caller may see.
pub(crate) struct VisibleRegistration {
    pub(crate) course: CourseTerms,
    /// Its questions, if they were read.
    pub(crate) questions: Option<Vec<Question>>,
    pub(crate) full: FullRegistration,
    /// The caller.
    pub(crate) reader: Reader,
}

impl Registrations {
    /// The course `id`, if `check` allows it to `person`.
    ///
    /// # Errors
    /// `COURSE_NOT_FOUND_MESSAGE`, and those of `check`.
    pub(crate) async fn course(
        &self,
        id: CourseId,
        person: &SignedIn,
        check: impl FnOnce(Option<Course>, &SignedIn) -> Result<Course, ErrorCode>,
    ) -> Result<CourseTerms, ApiError> {
        let mut terms = self.store.course_terms(id).await?.ok_or(ErrorCode::CourseNotFound)?;
        terms.course = check(Some(terms.course), person)?;
        Ok(terms)
    }

    /// Whether the committee `id` is active. That of `person` was read when the request began.
    pub(crate) async fn is_open(
        &self,
        id: CommitteeId,
        person: &SignedIn,
    ) -> Result<bool, StoreError> {
        if id == person.committee.committee_id {
            return Ok(person.committee.is_active);
        }
        Ok(self.store.committee(id).await?.is_some_and(|committee| committee.is_active))
    }

    /// The registration of `user` for the course `id`, if it is that of `person` or they may write the course. Their own
    /// is there whether they may read the course or not.
    ///
    /// # Errors
    /// `COURSE_NOT_FOUND_MESSAGE` or `REGISTRATION_NOT_FOUND_MESSAGE`.
    pub(crate) async fn visible_registration(
        &self,
        (id, user): (CourseId, UserId),
        person: &SignedIn,
    ) -> Result<VisibleRegistration, ApiError> {
        let (course, full) =
            tokio::try_join!(self.store.course_terms(id), self.store.full_registration(id, user))?;
        let course = course.ok_or(ErrorCode::CourseNotFound)?;
        let reader = reader(person, user, &course);
        match full {
            Some(full) if reader.is_writer || reader.is_own => {
                Ok(VisibleRegistration { course, questions: None, full, reader })
            }
            _ => {
                visible(Some(course.course), person)?;
                Err(ErrorCode::RegistrationNotFound.into())
            }
        }
    }

    /// As [`visible_registration`](Self::visible_registration), with the questions of the course, which are read at the same
    /// time.
    ///
    /// # Errors
    /// As [`visible_registration`](Self::visible_registration).
    pub(crate) async fn visible_with_questions(
        &self,
        ids: (CourseId, UserId),
        person: &SignedIn,
    ) -> Result<VisibleRegistration, ApiError> {
        let questions = async { Ok(self.store.questions(ids.0).await?) };
        let (found, questions) =
            tokio::try_join!(self.visible_registration(ids, person), questions)?;
        Ok(VisibleRegistration { questions: Some(questions), ..found })
    }

    /// The registration of `user` for the course `id`, if `writer` may decide on it.
    ///
    /// # Errors
    /// As [`visible_registration`](Self::visible_registration), and `FORBIDDEN_MESSAGE` for the caller's own if they may not
    /// write the course.
    pub(crate) async fn decidable(
        &self,
        ids: (CourseId, UserId),
        writer: &Permitted<WriteCourses>,
    ) -> Result<VisibleRegistration, ApiError> {
        let found = self.visible_registration(ids, &writer.person).await?;
        if found.reader.is_writer { Ok(found) } else { Err(ErrorCode::Forbidden.into()) }
    }
}

impl VisibleRegistration {
    /// In which role the caller changes the registration.
    ///
    /// # Errors
    /// `COMMITTEE_INACTIVE_MESSAGE`.
    pub(crate) fn party(&self) -> Result<Party, ErrorCode> {
        self.reader.party().ok_or(ErrorCode::CommitteeInactive)
    }
}

/// `person` as the reader of the registration of `user` for `course`.
pub(crate) fn reader(person: &SignedIn, user: UserId, course: &CourseTerms) -> Reader {
    Reader {
        is_writer: may_write(&course.course.summary, person),
        is_own: user == person.user.user_id,
        may_act: person.require_active_committee().is_ok(),
    }
}
