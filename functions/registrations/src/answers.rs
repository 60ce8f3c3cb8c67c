//! Reads answers to the questions of a course.

use std::collections::BTreeMap;

use common::{ApiError, ErrorCode, FieldError, Fields, InvalidValue};
use domain::{
    UserId,
    course::Language,
    file::Status,
    question::Question,
    registration::{Answer, AnswerError, Clearing, merged},
};
use futures_util::future::try_join_all;
use serde_json::value::RawValue;
use store::{StoreError, answers_fit};

use crate::Registrations;

/// Answers by the ids of their questions, as a request has them.
pub(crate) type Given = BTreeMap<String, Box<RawValue>>;

/// Reads the answers of a request; none if it has no field `answers`.
pub(crate) fn given(fields: &mut Fields) -> Option<Given> {
    fields.literals("answers").map(Option::unwrap_or_default)
}

impl Registrations {
    /// The `stored` answers of `owner` to `questions` with those that are `given`.
    ///
    /// # Errors
    /// The errors of all fields `answers.<questionID>` and then `other`, that of another field; and `ANSWERS_LIMIT_MESSAGE`.
    pub(crate) async fn merged_answers(
        &self,
        owner: UserId,
        (questions, language): (&[Question], Option<&Language>),
        stored: &[Answer],
        given: &Given,
        clearing: Clearing,
        other: Option<FieldError>,
    ) -> Result<Vec<Answer>, ApiError> {
        let (answers, invalid) = merged(questions, language, stored, given, clearing);
        let invalid = invalid.into_iter().map(|(id, error)| field_error(&id, error));
        let mut errors: Vec<FieldError> = invalid.collect();
        let files = answers.iter().map(|answer| async move {
            let id = answer.question_id.to_string();
            let Some(file) = answer.file().filter(|_| given.contains_key(&id)) else {
                return Ok(None);
            };
            let is_usable = self.store.file(file).await?;
            let is_usable =
                is_usable.is_some_and(|file| file.user_id == owner && file.status == Status::Ready);
            let missing = || FieldError::new(field(&id), ErrorCode::FileNotFound);
            Ok::<_, StoreError>((!is_usable).then(missing))
        });
        errors.extend(try_join_all(files).await?.into_iter().flatten());
        errors.extend(other);
        if !errors.is_empty() {
            Err(ApiError::fields(errors))
        } else if answers_fit(&answers) {
            Ok(answers)
        } else {
            Err(ApiError::field("answers", ErrorCode::AnswersLimit))
        }
    }
}

fn field(question_id: &str) -> String {
    format!("answers.{question_id}")
}

fn field_error(question_id: &str, error: AnswerError) -> FieldError {
    let invalid = match error {
        AnswerError::Value(error, constraint) => InvalidValue { code: error.into(), constraint },
        AnswerError::UnknownQuestion => ErrorCode::QuestionNotFound.into(),
    };
    FieldError::new(field(question_id), invalid)
}
