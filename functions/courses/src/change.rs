//! `PUT /courses/{courseId}`: a writer says anew all that a course says, or begins one under an identifier of
//! his own.

use axum::extract::State;
use common::{
    Failure, Fields, FromFields, Input, Message, Now, Path, Refusal, Refused, Reply, etag_of,
    if_match_holds, if_none_match_holds, integer, told,
};
use domain::{
    CourseId,
    course::{Course, State as Stage},
};
use http::{HeaderMap, header};
use store::Outcome;

use crate::{Courses, Shown, ShownWhole, content::Content, reasons, rights::Writer};

/// What the course is to say, and the version that the writer has seen.
pub(crate) struct Wish {
    content: Content,
    version: Option<u64>,
}

impl<S> FromFields<S> for Wish {
    fn from_fields(fields: &mut Fields, state: &S) -> Option<Self> {
        let (content, version) = (
            Content::from_fields(fields, state),
            fields.optional("version", integer(0..=u64::MAX)),
        );
        Some(Self {
            content: content?,
            version: version?,
        })
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
    writer: Writer,
    Path(id): Path<CourseId>,
    headers: HeaderMap,
    Input(wish): Input<Wish>,
) -> Reply<Shown> {
    if id == CourseId::in_path("") {
        return Err(Refusal::CourseNotFound.into());
    }
    for tries in 0..crate::TRIES {
        courses.store.let_others_pass(tries).await?;
        let Found { course, etag } = courses.find(id, &headers).await?;
        let mut write = courses.store.transaction();
        let (message, course) = match course {
            None => {
                if wish.version.is_some() || headers.contains_key(header::IF_MATCH) {
                    return Err(Refusal::VersionConflict.into());
                }
                let course = wish.content.clone().begun(id, &writer.0.user, now);
                write.new_course(&course);
                (Message::CourseCreated, course)
            }
            course => {
                let before = writer.changes(course)?;
                let etag = etag.unwrap_or_default();
                let is_as_seen = wish
                    .version
                    .is_none_or(|version| version == before.outline.version);
                if !is_as_seen
                    || !if_match_holds(&headers, &etag)
                    || !if_none_match_holds(&headers, &etag)
                {
                    return Err(Refusal::VersionConflict.into());
                }
                let after = wish.content.clone().replacing(&before, now);
                must_stay_ready(&after)?;
                write.change_course(&before.outline, &after);
                (Message::CourseUpdated, after)
            }
        };
        if write.commit().await? == Outcome::Done {
            return told(message, Shown { course });
        }
    }
    Err(Refusal::Conflict.into())
}

/// # Errors
/// `COURSE_NOT_READY_MESSAGE` with all reasons, when everybody sees the course and it is not ready for that.
fn must_stay_ready(course: &Course) -> Result<(), Refused> {
    let reasons = if course.outline.state == Stage::Published {
        reasons(course)
    } else {
        Vec::new()
    };
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(Refused::because(Refusal::CourseNotReady, reasons))
    }
}

impl Courses {
    /// The tag is that of `GET /courses/{courseId}`, which shows the questions too: they are read for it alone.
    async fn find(&self, id: CourseId, headers: &HeaderMap) -> Result<Found, Failure> {
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
        let etag = etag_of(ShownWhole {
            course: course.clone(),
            questions,
        })?;
        Ok(Found {
            course: Some(course),
            etag: Some(etag),
        })
    }
}
