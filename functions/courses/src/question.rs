//! `GET`, `PUT` and `DELETE /courses/questions/{courseId}/{questionId}`: returns, replaces or deletes a question.

use axum::extract::State;
use common::{
    ApiError, ApiResult, Empty, ErrorCode, Input, Message, Now, Path, Permitted, SignedIn, input,
    integer, ok, rights::WriteCourses, success,
};
use domain::{
    CourseId, QuestionId,
    course::Course,
    question::{PlacedQuestion, Question, QuestionContent, placed},
};
use serde::Serialize;

use crate::{
    Courses,
    questions::wording,
    rights::{changeable, visible},
};

input! {
    pub(crate) struct UpdateQuestionRequest {
        wording: QuestionContent = group(wording),
        /// The position from 1; 0 counts as 1, and a position past the end as the last.
        order: Option<u64> = optional("order", integer(0..=u64::MAX)),
    }
}

#[derive(Serialize)]
pub(crate) struct QuestionResponse {
    question: PlacedQuestion,
}

type Ids = Path<(CourseId, QuestionId)>;

pub(crate) async fn show(
    State(courses): State<Courses>,
    person: SignedIn,
    Path((course, id)): Ids,
) -> ApiResult<QuestionResponse> {
    let found = courses.store.course_with_questions(course).await?;
    let (course, questions) = found.ok_or(ErrorCode::CourseNotFound)?;
    visible(Some(course), &person)?;
    let place = place_of(id, &questions)?;
    let question = placed(questions).swap_remove(place);
    ok(QuestionResponse { question })
}

/// Replaces the content of the question; without `order` it keeps its position.
pub(crate) async fn change(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path((course, id)): Ids,
    Input(request): Input<UpdateQuestionRequest>,
) -> ApiResult<QuestionResponse> {
    let change = || async {
        let (before, mut questions) = courses.changeable(&writer, course).await?;
        let place = place_of(id, &questions)?;
        let question = Question { wording: request.wording.clone(), ..questions.remove(place) };
        let order = request.order.map_or(place + 1, |order| order.try_into().unwrap_or(usize::MAX));
        let order = order.clamp(1, questions.len() + 1);
        questions.insert(order - 1, question.clone());
        if !store::questions_fit(&questions) {
            return Err(ErrorCode::QuestionsLimit.into());
        }
        let mut tx = courses.store.transaction();
        tx.set_questions(&before.summary, questions, now);
        Ok::<_, ApiError>((tx, PlacedQuestion { question, order }))
    };
    let question = courses.store.update(change, |_| None).await?;
    success(Message::QuestionUpdated, QuestionResponse { question })
}

pub(crate) async fn remove(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path((course, id)): Ids,
) -> ApiResult<Empty> {
    let remove = || async {
        let (before, mut questions) = courses.changeable(&writer, course).await?;
        questions.remove(place_of(id, &questions)?);
        let mut tx = courses.store.transaction();
        tx.set_questions(&before.summary, questions, now);
        Ok::<_, ApiError>((tx, ()))
    };
    courses.store.update(remove, |_| None).await?;
    success(Message::QuestionDeleted, Empty {})
}

fn place_of(id: QuestionId, questions: &[Question]) -> Result<usize, ApiError> {
    let place = questions.iter().position(|question| question.question_id == id);
    Ok(place.ok_or(ErrorCode::QuestionNotFound)?)
}

impl Courses {
    /// The course with its questions, if `writer` may change it.
    pub(crate) async fn changeable(
        &self,
        writer: &Permitted<WriteCourses>,
        id: CourseId,
    ) -> Result<(Course, Vec<Question>), ApiError> {
        let found = self.store.course_with_questions(id).await?;
        let (course, questions) = found.ok_or(ErrorCode::CourseNotFound)?;
        Ok((changeable(Some(course), &writer.person)?, questions))
    }
}
