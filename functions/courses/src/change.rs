//! `PUT /courses/{courseId}`: a writer says anew all that a course says, or begins one under an identifier of
//! his own.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Input, Message, Now, Path, Permitted, etag_of, if_match_holds,
    if_none_match_holds, input, integer, rights::WriteCourses, success,
};
use domain::{
    CourseId, Instant,
    course::{Course, State as Stage},
    user::User,
};
use http::{HeaderMap, header};

use crate::{
    CourseResponse, CourseWithQuestions, Courses, content::Content, reasons, rights::changeable,
};

input! {
    pub(crate) struct UpdateCourseRequest {
        content: Content = group(|fields| Content::from_fields(fields, &())),
        /// The version that the writer has seen.
        version: Option<u64> = optional("version", integer(0..=u64::MAX)),
    }
}

/// What is there, and its entity tag where the request asks about one.
struct Found {
    course: Option<Course>,
    etag: Option<String>,
}

/// With `version`, `If-Match` or `If-None-Match` nobody replaces what he has not seen; without them the last
/// one's word counts.
pub(crate) async fn change(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(id): Path<CourseId>,
    headers: HeaderMap,
    Input(request): Input<UpdateCourseRequest>,
) -> ApiResult<CourseResponse> {
    if id == CourseId::in_path("") {
        return Err(ErrorCode::CourseNotFound.into());
    }
    let (message, course) = courses
        .store
        .update(
            || async {
                let found = courses.find(id, &headers).await?;
                let mut write = courses.store.transaction();
                let Some(before) = found.course else {
                    let course = request.begun(id, &writer.person.user, &headers, now)?;
                    write.new_course(&course);
                    return Ok((write, (Message::CourseCreated, course)));
                };
                let before = changeable(Some(before), &writer.person)?;
                request.must_replace(&before, found.etag, &headers)?;
                let after = request.content.clone().replacing(&before, now);
                must_stay_ready(&after)?;
                write.change_course(&before.outline, &after);
                Ok::<_, ApiError>((write, (Message::CourseUpdated, after)))
            },
            |_| None,
        )
        .await?;
    success(message, CourseResponse { course })
}

impl UpdateCourseRequest {
    /// A new course, unless the writer means one that they have seen.
    fn begun(
        &self,
        id: CourseId,
        author: &User,
        headers: &HeaderMap,
        now: Instant,
    ) -> Result<Course, ErrorCode> {
        if self.version.is_some() || headers.contains_key(header::IF_MATCH) {
            return Err(ErrorCode::VersionConflict);
        }
        Ok(self.content.clone().begun(id, author, now))
    }

    /// # Errors
    /// `VERSION_CONFLICT_MESSAGE` when `before` is not the course that the writer means to replace.
    fn must_replace(
        &self,
        before: &Course,
        etag: Option<String>,
        headers: &HeaderMap,
    ) -> Result<(), ErrorCode> {
        let etag = etag.unwrap_or_default();
        let is_version = self
            .version
            .is_none_or(|version| version == before.outline.version);
        if is_version && if_match_holds(headers, &etag) && if_none_match_holds(headers, &etag) {
            Ok(())
        } else {
            Err(ErrorCode::VersionConflict)
        }
    }
}

/// # Errors
/// `COURSE_NOT_READY_MESSAGE` with all reasons, when everybody sees the course and it is not ready for that.
fn must_stay_ready(course: &Course) -> Result<(), ApiError> {
    let reasons = if course.outline.state == Stage::Published {
        reasons(course)
    } else {
        Vec::new()
    };
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(ApiError::with_errors(ErrorCode::CourseNotReady, reasons))
    }
}

impl Courses {
    /// The tag is that of `GET /courses/{courseId}`, which shows the questions too: they are read for it alone.
    async fn find(&self, id: CourseId, headers: &HeaderMap) -> Result<Found, ApiError> {
        if !headers.contains_key(header::IF_MATCH) && !headers.contains_key(header::IF_NONE_MATCH) {
            return Ok(Found {
                course: self.store.course(id).await?,
                etag: None,
            });
        }
        let Some((course, questions)) = self.store.course_with_questions(id).await? else {
            return Ok(Found {
                course: None,
                etag: None,
            });
        };
        let etag = etag_of(CourseWithQuestions {
            course: course.clone(),
            questions,
        })?;
        Ok(Found {
            course: Some(course),
            etag: Some(etag),
        })
    }
}
