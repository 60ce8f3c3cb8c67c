//! `GET /courses/{courseId}`: returns a course with its questions.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Path, SignedIn, ok};
use domain::{CourseId, question::placed};

use crate::{CourseWithQuestions, Courses, rights::visible};

pub(crate) async fn show(
    State(courses): State<Courses>,
    person: SignedIn,
    Path(id): Path<CourseId>,
) -> ApiResult<CourseWithQuestions> {
    let (course, questions) =
        courses.store.course_with_questions(id).await?.ok_or(ErrorCode::CourseNotFound)?;
    let course = visible(Some(course), &person)?;
    ok(CourseWithQuestions { course, questions: placed(questions) })
}
