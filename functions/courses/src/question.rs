//! `GET`, `PUT` and `DELETE /courses/questions/{courseId}/{questionId}`: returns, replaces or deletes a question.

use axum::extract::State;
use common::{
    ApiError, ApiResult, Empty, ErrorCode, Input, Message, Now, Path, Permitted, SignedIn,
    course_rights::{changeable, visible},
    input, integer, ok,
    rights::WriteCourses,
    success,
};
use domain::{
    CourseId, QuestionId,
    audit::{AuditEntry, AuditedAction},
    course::CourseSummary,
    placed_question::PlacedQuestion,
    question::{Question, QuestionContent},
};
use identity::random;
use serde::Serialize;
use store::{Part, StoreError, Transaction};

use crate::{Courses, questions::wording};

input! {
    /// Fifty long options fit also when each letter is escaped.
    pub(crate) struct UpdateQuestionRequest: 524_288 {
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
    let full = courses.full(course, &person, visible).await?;
    let place = place_of(id, &full.questions)?;
    let mut questions = courses.placed(full.questions, 1);
    let question = questions.swap_remove(place);
    ok(QuestionResponse { question })
}

/// Replaces the content of the question; without `order` it keeps its position. Once somebody has registered for the
/// course, its type and language are fixed: answers would no longer fit.
pub(crate) async fn change(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path((course, id)): Ids,
    Input(request): Input<UpdateQuestionRequest>,
) -> ApiResult<QuestionResponse> {
    let attempt = || async {
        let full = courses.full(course, &writer.person, changeable).await?;
        let (before, mut questions) = (full.course.summary, full.questions);
        let place = place_of(id, &questions)?;
        let former = questions.remove(place);
        let kind = |wording: &QuestionContent| (wording.question_type, wording.language.clone());
        let is_other_kind = kind(&former.wording) != kind(&request.wording);
        let question = Question { wording: request.wording.clone(), ..former.clone() };
        let order = request.order.map_or(place + 1, |order| order.try_into().unwrap_or(usize::MAX));
        let order = order.clamp(1, questions.len() + 1);
        questions.insert(order - 1, question.clone());
        if !store::questions_fit(&questions) {
            return Err(ErrorCode::QuestionsLimit.into());
        }
        let mut tx = courses.store.transaction();
        tx.set_questions(&before, questions, now);
        if is_other_kind {
            tx.change_question_type(course);
        }
        let audited = AuditedAction::of_question(&before, &former, Some(&question));
        courses
            .audit(&mut tx, &before, audited.by(&writer.person.user, random::id(now), now))
            .await?;
        Ok::<_, ApiError>((tx, PlacedQuestion::new(question, order, courses.max_file_bytes)))
    };
    let is_fixed = |part| (part == Part::Seats).then(|| ErrorCode::QuestionTypeFixed.into());
    let question = courses.store.update(attempt, is_fixed).await?;
    success(Message::QuestionUpdated, QuestionResponse { question })
}

pub(crate) async fn remove(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path((course, id)): Ids,
) -> ApiResult<Empty> {
    let attempt = || async {
        let full = courses.full(course, &writer.person, changeable).await?;
        let (before, mut questions) = (full.course.summary, full.questions);
        let former = questions.remove(place_of(id, &questions)?);
        let mut tx = courses.store.transaction();
        tx.set_questions(&before, questions, now);
        let audited = AuditedAction::of_question(&before, &former, None);
        courses
            .audit(&mut tx, &before, audited.by(&writer.person.user, random::id(now), now))
            .await?;
        Ok::<_, ApiError>((tx, ()))
    };
    courses.store.update(attempt, |_| None).await?;
    success(Message::QuestionDeleted, Empty {})
}

impl Courses {
    /// Records `entry`, the change of a question of `course`, once somebody has registered: they may have answered it.
    async fn audit(
        &self,
        tx: &mut Transaction,
        course: &CourseSummary,
        entry: AuditEntry,
    ) -> Result<(), StoreError> {
        let is_public = course.published_at.is_some();
        if is_public && self.store.seats(course.course_id).await?.registered > 0 {
            tx.record_audit(&entry);
        }
        Ok(())
    }
}

fn place_of(id: QuestionId, questions: &[Question]) -> Result<usize, ApiError> {
    let place = questions.iter().position(|question| question.question_id == id);
    Ok(place.ok_or(ErrorCode::QuestionNotFound)?)
}
