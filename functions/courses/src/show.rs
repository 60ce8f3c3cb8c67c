//! `GET /courses/{courseId}`: a course, whole, with its questions.

use axum::extract::State;
use common::{Path, Refusal, Reply, SignedIn, shown};
use domain::CourseId;

use crate::{CourseWithQuestions, Courses, rights::visible};

pub(crate) async fn show(
    State(courses): State<Courses>,
    person: SignedIn,
    Path(id): Path<CourseId>,
) -> Reply<CourseWithQuestions> {
    let (course, questions) = courses
        .store
        .course_with_questions(id)
        .await?
        .ok_or(Refusal::CourseNotFound)?;
    shown(CourseWithQuestions {
        course: visible(Some(course), &person)?,
        questions,
    })
}
