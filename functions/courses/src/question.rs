//! `GET`, `PUT` and `DELETE /courses/questions/{courseId}/{questionId}`: returns, replaces or deletes a question.

use axum::extract::State;
use common::{
    ApiError, ApiResult, Empty, ErrorCode, Input, Message, Now, Path, Permitted, SignedIn, input,
    integer, ok, rights::WriteCourses, success,
};
use domain::{
    CourseId, QuestionId,
    question::{PlacedQuestion, Question, QuestionContent},
};
use serde::Serialize;
use store::Questionnaire;

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
    let (before, question) = courses.question(course, id).await?;
    visible(Some(before.course.clone()), &person)?;
    let question =
        question.and_then(|question| before.place(question)).ok_or(ErrorCode::QuestionNotFound)?;
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
        let (before, old) = courses.changeable(&writer, course, id).await?;
        let question = Question { wording: request.wording.clone(), ..old.question.clone() };
        if !before.has_room(std::slice::from_ref(&old.question), std::slice::from_ref(&question)) {
            return Err(ErrorCode::QuestionsLimit.into());
        }
        let order =
            request.order.and_then(|order| usize::try_from(order).ok()).unwrap_or(old.order);
        let new = PlacedQuestion { question, order: order.clamp(1, before.order.len()) };
        let mut tx = courses.store.transaction();
        tx.change_question(&before, old.question, &new, now);
        Ok::<_, ApiError>((tx, new))
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
        let (before, old) = courses.changeable(&writer, course, id).await?;
        let mut tx = courses.store.transaction();
        tx.remove_question(&before, old.question, now);
        Ok::<_, ApiError>((tx, ()))
    };
    courses.store.update(remove, |_| None).await?;
    success(Message::QuestionDeleted, Empty {})
}

impl Courses {
    async fn question(
        &self,
        course: CourseId,
        id: QuestionId,
    ) -> Result<(Questionnaire, Option<Question>), ApiError> {
        Ok(self.store.question(course, id).await?.ok_or(ErrorCode::CourseNotFound)?)
    }

    /// The question, if `writer` may change it, and the questionnaire that contains it.
    async fn changeable(
        &self,
        writer: &Permitted<WriteCourses>,
        course: CourseId,
        id: QuestionId,
    ) -> Result<(Questionnaire, PlacedQuestion), ApiError> {
        let (before, question) = self.question(course, id).await?;
        changeable(Some(before.course.clone()), &writer.person)?;
        let question = question
            .and_then(|question| before.place(question))
            .ok_or(ErrorCode::QuestionNotFound)?;
        Ok((before, question))
    }
}
