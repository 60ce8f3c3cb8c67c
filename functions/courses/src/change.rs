//! `PUT /courses/{courseId}`: replaces the content of a course, or creates one with the identifier of the client.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted,
    course_rights::changeable, etag_of, if_match_holds, if_none_match_holds, input, integer,
    rights::WriteCourses, success,
};
use domain::{
    CourseId, Instant,
    audit::AuditedAction,
    course::{Course, CourseState},
    user::User,
};
use http::{HeaderMap, header};
use identity::random;
use store::CourseTerms;

use crate::{CourseResponse, Courses, content::Content, publication_errors, ready};

input! {
    /// The longest texts fit also when each letter is escaped.
    pub(crate) struct UpdateCourseRequest: 262_144 {
        content: Content = group(|fields| Content::from_fields(fields, &())),
        /// The version that the change is based on.
        version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

/// With `version`, `If-Match` or `If-None-Match` the stored course is replaced only if it matches; without them
/// the last write wins.
pub(crate) async fn change(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
    headers: HeaderMap,
    Input(request): Input<UpdateCourseRequest>,
) -> ApiResult<CourseResponse> {
    if id == CourseId::NONE {
        return Err(ErrorCode::CourseNotFound.into());
    }
    let attempt = || async {
        let (stored, etag) = courses.load(id, &headers).await?;
        let mut tx = courses.store.transaction();
        let Some(terms) = stored else {
            let course = request.create(id, &writer.person.user, &headers, now)?;
            tx.new_course(&course, Vec::new());
            return Ok((tx, (Message::CourseCreated, course)));
        };
        let before = changeable(Some(terms.course.clone()), &writer.person)?;
        request.check_conditions(&before, &etag, &headers)?;
        let mut content = request.content.clone();
        if !terms.sessions.sessions.is_empty() {
            content = content.with_dates_of(&before.summary)?;
        }
        let after = content.replacing(&before, now);
        if after.summary.state == CourseState::Published {
            ready(publication_errors(&after))?;
        }
        tx.change_course(&before.summary, &after);
        let later = CourseTerms { course: after.clone(), ..terms.clone() };
        tx.reschedule(&before.summary, &terms.schedule(), &later.schedule(), now);
        if before.summary.state == CourseState::Published {
            let audited = AuditedAction::of_course_change(&before, &after);
            tx.record_audit(&audited.by(&writer.person.user, random::id(now), now));
        }
        Ok::<_, ApiError>((tx, (Message::CourseUpdated, after)))
    };
    let (message, course) = courses.store.update(attempt, |_| None).await?;
    success(message, CourseResponse { course })
}

impl UpdateCourseRequest {
    /// A new course, unless the request expects a stored one.
    fn create(
        &self,
        id: CourseId,
        author: &User,
        headers: &HeaderMap,
        now: Instant,
    ) -> Result<Course, ErrorCode> {
        if self.version.is_some() || headers.contains_key(header::IF_MATCH) {
            return Err(ErrorCode::VersionConflict);
        }
        Ok(self.content.clone().into_draft(id, author, now))
    }

    /// # Errors
    /// `VERSION_CONFLICT_MESSAGE` when `before` does not match the version or the conditional headers.
    fn check_conditions(
        &self,
        before: &Course,
        etag: &str,
        headers: &HeaderMap,
    ) -> Result<(), ErrorCode> {
        let is_same_version = self.version.is_none_or(|version| version == before.summary.version);
        if is_same_version && if_match_holds(headers, etag) && if_none_match_holds(headers, etag) {
            Ok(())
        } else {
            Err(ErrorCode::VersionConflict)
        }
    }
}

impl Courses {
    /// The stored course, and its entity tag, which is empty if the request is not conditional. The tag is that of
    /// `GET /courses/{courseId}`, which includes the questions: they are read only for the tag.
    async fn load(
        &self,
        id: CourseId,
        headers: &HeaderMap,
    ) -> Result<(Option<CourseTerms>, String), ApiError> {
        if !headers.contains_key(header::IF_MATCH) && !headers.contains_key(header::IF_NONE_MATCH) {
            return Ok((self.store.course_terms(id).await?, String::new()));
        }
        let Some(full) = self.store.full_course(id).await? else {
            return Ok((None, String::new()));
        };
        let (terms, _) = full.clone().into_terms();
        Ok((Some(terms), etag_of(self.shown(full, true).await?)?))
    }
}
