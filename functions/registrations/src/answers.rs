//! Reads answers to the questions of a course.

use std::collections::{BTreeMap, BTreeSet};

use common::{ApiError, ErrorCode, FieldError, Fields, InvalidField, InvalidValue};
use domain::{
    QuestionId, UserId, ValueError,
    course::Language,
    question::Question,
    registration::{Answer, AnswerError, Clearing, merged},
};
use serde_json::value::RawValue;
use store::answers_fit;

use crate::Registrations;

/// The answers that a request has.
#[derive(Default)]
pub(crate) struct SubmittedAnswers {
    /// By the question, however its id is written.
    pub(crate) answers: BTreeMap<QuestionId, Box<RawValue>>,
    /// The questions that several names stand for.
    doubled: BTreeSet<QuestionId>,
    /// The names that are no id.
    unknown: Vec<String>,
}

/// Reads the answers of a request; none if it has no field `answers`.
pub(crate) fn submitted_answers(fields: &mut Fields) -> Result<SubmittedAnswers, InvalidField> {
    let mut submitted = SubmittedAnswers::default();
    for (name, value) in fields.literals("answers")?.unwrap_or_default() {
        match name.parse() {
            Err(_) => submitted.unknown.push(name),
            Ok(id) => {
                if submitted.answers.insert(id, value).is_some() {
                    submitted.doubled.insert(id);
                }
            }
        }
    }
    Ok(submitted)
}

impl SubmittedAnswers {
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty() && self.unknown.is_empty()
    }
}

/// The questions of a form in the language in which its answers are given.
#[derive(Clone, Copy)]
pub(crate) struct Form<'a> {
    pub(crate) questions: &'a [Question],
    pub(crate) language: &'a Language,
}

impl Registrations {
    /// The `stored` answers of `owner` to `form` with those that are `submitted`.
    ///
    /// # Errors
    /// The errors of all fields `answers.<questionID>`, in the order of the form, and then `other`, that of another field; and
    /// `ANSWERS_LIMIT_MESSAGE`.
    pub(crate) async fn merged_answers(
        &self,
        owner: UserId,
        form: Form<'_>,
        stored: &[Answer],
        submitted: &SubmittedAnswers,
        clearing: Clearing,
        other: Option<FieldError>,
    ) -> Result<Vec<Answer>, ApiError> {
        let Form { questions, language } = form;
        let (answers, errors) = merged(questions, language, stored, &submitted.answers, clearing);
        let mut invalid: Vec<(QuestionId, InvalidValue)> =
            errors.into_iter().map(|(id, error)| (id, invalid_answer(error))).collect();
        let files =
            answers.iter().filter(|answer| submitted.answers.contains_key(&answer.question_id));
        let files: Vec<_> = files.filter_map(|one| Some((one.question_id, one.file()?))).collect();
        let usable = self.store.ready_files(files.iter().map(|(_, file)| *file)).await?;
        let is_usable = |file| usable.get(file).is_some_and(|file| file.user_id == owner);
        let unusable = files.iter().filter(|(_, file)| !is_usable(file));
        invalid.extend(unusable.map(|(id, _)| (*id, ErrorCode::FileNotFound.into())));
        invalid.retain(|(id, _)| !submitted.doubled.contains(id));
        invalid.extend(submitted.doubled.iter().map(|id| (*id, ValueError::Value.into())));
        invalid.sort_by_key(|(id, _)| {
            questions.iter().position(|one| one.question_id == *id).unwrap_or(usize::MAX)
        });
        let errors =
            invalid.into_iter().map(|(id, error)| FieldError::new(format!("answers.{id}"), error));
        let unknown = submitted
            .unknown
            .iter()
            .map(|name| FieldError::new(format!("answers.{name}"), ErrorCode::QuestionNotFound));
        let errors: Vec<FieldError> = errors.chain(unknown).chain(other).collect();
        if !errors.is_empty() {
            Err(ApiError::fields(errors))
        } else if answers_fit(&answers) {
            Ok(answers)
        } else {
            Err(ApiError::field("answers", ErrorCode::AnswersLimit))
        }
    }
}

fn invalid_answer(error: AnswerError) -> InvalidValue {
    match error {
        AnswerError::Value(error, constraint) => InvalidValue::new(error, constraint),
        AnswerError::UnknownQuestion => ErrorCode::QuestionNotFound.into(),
    }
}
