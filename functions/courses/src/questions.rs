//! `POST /courses/questions/{courseId}`: adds questions to a course, all or none.

use axum::extract::State;
use common::{
    ApiError, ApiResult, ErrorCode, Fields, Input, InvalidField, InvalidValue, Message, Now, Path,
    Permitted, course_rights::changeable, flag, input, rights::WriteCourses, success, text,
};
use domain::{
    Constraint, CourseId, QuestionId, Unit, ValueError,
    placed_question::PlacedQuestion,
    question::{OPTIONS, Question, QuestionContent, QuestionType, check_options},
};
use identity::random;
use serde::Serialize;

use crate::Courses;

/// The most questions of one request.
const MAX_QUESTIONS: usize = 50;

input! {
    /// Fifty long questions fit also when each letter is escaped.
    pub(crate) struct AddQuestionsRequest: 524_288 {
        questions: Vec<QuestionContent> = objects("questions", MAX_QUESTIONS, wording),
    }
}

fn invalid_options(error: ValueError) -> InvalidValue {
    let constraint = match error {
        ValueError::Required | ValueError::Length => {
            Constraint::length(*OPTIONS.start(), *OPTIONS.end(), Unit::Elements)
        }
        _ => Constraint::default(),
    };
    InvalidValue { code: error.into(), constraint }
}

/// Reads the content of a question.
pub(crate) fn wording(fields: &mut Fields) -> Result<QuestionContent, InvalidField> {
    let language = fields.required("language", text);
    let question = fields.required("question", text);
    let question_type = fields.required("questionType", text::<QuestionType>);
    let required = fields.optional_or("required", flag, false);
    let options = fields.texts("options", Some(*OPTIONS.start()), *OPTIONS.end());
    let (question_type, options) = (question_type?, options?);
    let options = check_options(question_type, options)
        .map_err(|error| fields.reject("options", invalid_options(error)));
    Ok(QuestionContent {
        language: language?,
        question: question?,
        question_type,
        required: required?,
        options: options?,
    })
}

#[derive(Serialize)]
pub(crate) struct QuestionsResponse {
    questions: Vec<PlacedQuestion>,
}

/// Appends the questions in the order of the request.
pub(crate) async fn add(
    State(courses): State<Courses>,
    Now(now): Now,
    writer: Permitted<WriteCourses>,
    Path(course_id): Path<CourseId>,
    Input(request): Input<AddQuestionsRequest>,
) -> ApiResult<QuestionsResponse> {
    let created = request.questions.into_iter().map(|wording| {
        let question_id = QuestionId::new(random::id(now));
        Question { question_id, course_id, wording, created_at: now }
    });
    let questions: Vec<Question> = created.collect();
    let attempt = || async {
        let full = courses.full(course_id, &writer.person, changeable).await?;
        let (course, mut all) = (full.course.summary, full.questions);
        let first = all.len() + 1;
        all.extend_from_slice(&questions);
        if !store::questions_fit(&all) {
            return Err(ErrorCode::QuestionsLimit.into());
        }
        let mut tx = courses.store.transaction();
        tx.set_questions(&course, all, now);
        Ok::<_, ApiError>((tx, first))
    };
    let first = courses.store.update(attempt, |_| None).await?;
    let questions = courses.placed(questions, first);
    success(Message::QuestionsAdded, QuestionsResponse { questions })
}
