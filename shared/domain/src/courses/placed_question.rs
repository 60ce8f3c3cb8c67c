//! Questions as responses show them.

use serde::Serialize;

use crate::{
    file::ContentType,
    question::{Question, QuestionContent, QuestionType},
    registration::{DATES, DECIMALS, LONG_REPLY, MAX_NUMBER, SHORT_REPLY},
};

/// A question as responses show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacedQuestion {
    #[serde(flatten)]
    question: Question,
    /// Position in the course, from 1.
    order: usize,
    limits: AnswerLimits,
}

impl PlacedQuestion {
    /// `question` at the position `order`, from 1; an answer may be a file of at most `max_file_bytes`.
    pub fn new(question: Question, order: usize, max_file_bytes: u64) -> Self {
        let limits = AnswerLimits::of(&question.wording, max_file_bytes);
        Self { question, order, limits }
    }
}

/// What an answer to a question may be; empty for a choice of one and for yes or no.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct AnswerLimits {
    /// Most code points of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Bound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Bound>,
    /// Most decimals of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    decimals: Option<u8>,
    /// Fewest options.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<usize>,
    /// Most options.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<usize>,
    /// Media types of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_types: Option<Vec<&'static str>>,
    /// Largest file.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
}

/// The smallest or largest answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Bound {
    Number(i64),
    /// Such as `1900-01-01`.
    Date(String),
}

impl AnswerLimits {
    /// What an answer to `question` may be; a file has at most `max_file_bytes`.
    fn of(question: &QuestionContent, max_file_bytes: u64) -> Self {
        let numbers = |min: i64, max: i64, decimals| Self {
            min: Some(Bound::Number(min)),
            max: Some(Bound::Number(max)),
            decimals: Some(decimals),
            ..Self::default()
        };
        let texts = |length| Self { max_length: Some(length), ..Self::default() };
        let formatted = |format| Self { format: Some(format), ..Self::default() };
        match question.question_type {
            QuestionType::SingleChoice | QuestionType::Dropdown | QuestionType::YesNo => {
                Self::default()
            }
            QuestionType::ShortReply => texts(SHORT_REPLY),
            QuestionType::LongReply => texts(LONG_REPLY),
            QuestionType::MultipleChoice => Self {
                min_items: Some(1),
                max_items: question.options.as_ref().map(Vec::len),
                ..Self::default()
            },
            QuestionType::Number => numbers(-MAX_NUMBER, MAX_NUMBER, DECIMALS),
            QuestionType::Scale => numbers(1, 10, 0),
            QuestionType::Rating => numbers(1, 5, 0),
            QuestionType::Date => Self {
                min: Some(Bound::Date(DATES.start().to_string())),
                max: Some(Bound::Date(DATES.end().to_string())),
                ..Self::default()
            },
            QuestionType::Time => formatted("time"),
            QuestionType::Email => formatted("email"),
            QuestionType::Phone => formatted("e164"),
            QuestionType::File => Self {
                content_types: Some(ContentType::ALL.map(ContentType::code).to_vec()),
                max_bytes: Some(max_file_bytes),
                ..Self::default()
            },
        }
    }
}
