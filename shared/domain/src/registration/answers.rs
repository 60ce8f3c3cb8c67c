//! Answers to the questions of a course.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use jiff::civil::{Date, Time, date as day};
use serde::{Deserialize, Serialize};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::{
    Constrained, Constraint, E164, Email, FileId, Instant, Line, Prose, QuestionId, Unit,
    ValueError,
    course::Language,
    is_blank, price,
    question::{OPTIONS, Question, QuestionType, RequiredQuestion, required},
    text::comparable,
};

/// First and last answer to a question of type `DATE`.
pub(crate) const DATES: RangeInclusive<Date> = day(1900, 1, 1)..=day(2100, 12, 31);
/// Largest answer to a question of type `NUMBER`, and smallest without its sign.
pub(crate) const MAX_NUMBER: i64 = 999_999_999_999;
/// Most decimals of such an answer.
pub(crate) const DECIMALS: u8 = 6;
/// Most code points of an answer to a question of type `SHORT_REPLY`.
pub(crate) const SHORT_REPLY: usize = 500;
/// Most code points of an answer to a question of type `LONG_REPLY`.
pub(crate) const LONG_REPLY: usize = 5_000;

/// An answer, with the question as it was asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The question.
    #[serde(rename = "questionID")]
    pub question_id: QuestionId,
    /// Its text at that time.
    pub question: Prose<1000>,
    /// Its type.
    pub question_type: QuestionType,
    /// The value as JSON: numbers keep all their digits.
    pub value: Box<RawValue>,
}

/// Why an answer is invalid.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerError {
    /// The value does not fit the question, with what a valid value fulfils.
    Value(ValueError, Constraint),
    /// The course has no such question.
    UnknownQuestion,
}

impl From<ValueError> for AnswerError {
    fn from(error: ValueError) -> Self {
        Self::Value(error, Constraint::default())
    }
}

/// Which answers to required questions may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clearing {
    /// None: the person registers.
    Never,
    /// Those that the request does not name: the person changes answers.
    Absent,
    /// All: the committee changes answers.
    Any,
}

impl Answer {
    /// Whether `questions` still have the question with this text and type and, for a choice, the chosen options, in any
    /// order.
    pub fn is_current(&self, questions: &[Question]) -> bool {
        let question = questions.iter().find(|question| question.question_id == self.question_id);
        question.map(|question| &question.wording).is_some_and(|wording| {
            let mut chosen = self.options().into_iter();
            let has = |option: String| {
                let option = comparable(&option);
                wording
                    .options
                    .iter()
                    .flatten()
                    .any(|offered| comparable(offered.as_str()) == option)
            };
            wording.question == self.question
                && wording.question_type == self.question_type
                && chosen.all(has)
        })
    }

    /// The chosen options; none of a question without options.
    fn options(&self) -> Vec<String> {
        let value = self.value.get();
        match self.question_type {
            QuestionType::MultipleChoice => serde_json::from_str(value).unwrap_or_default(),
            kind if kind.has_options() => serde_json::from_str(value).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The file of an answer to a question of type `FILE`.
    pub fn file(&self) -> Option<FileId> {
        if self.question_type != QuestionType::File {
            return None;
        }
        serde_json::from_str(self.value.get()).ok()
    }
}

/// Languages of registrations for a course without questions.
const LANGUAGES: [&str; 3] = ["FR", "AR", "EN"];

/// The language of a form: `wanted`, or that of the course, or that of the first question; without questions `FR`, `AR` or
/// `EN`, by default `FR`.
///
/// # Errors
/// `Value` when no question has the language `wanted`, or it is none of those three.
pub fn form_language(
    questions: &[Question],
    wanted: Option<&Language>,
    of_course: &Language,
) -> Result<Language, ValueError> {
    let has = |language: &Language| match questions {
        [] => LANGUAGES.contains(&language.code()),
        questions => questions.iter().any(|one| one.wording.language == *language),
    };
    match wanted {
        Some(wanted) if has(wanted) => Ok(wanted.clone()),
        Some(_) => Err(ValueError::Value),
        None if has(of_course) => Ok(of_course.clone()),
        None => Ok(questions.first().map(|one| one.wording.language.clone()).unwrap_or_default()),
    }
}

/// The ids of the `required` questions of `language` of which none `is_answered`.
pub(super) fn missing(
    required: &[RequiredQuestion],
    language: &Language,
    is_answered: impl Fn(&QuestionId) -> bool,
) -> Vec<QuestionId> {
    let ids = required.iter().filter(|one| one.language == *language).map(|one| one.question_id);
    ids.filter(|id| !is_answered(id)).collect()
}

/// The questions that `answers` answer, with the files.
pub fn answered(answers: &[Answer]) -> BTreeMap<QuestionId, Option<FileId>> {
    answers.iter().map(|answer| (answer.question_id, answer.file())).collect()
}

/// The `stored` answers with those that are `given`, in the order of `questions` and then those to deleted questions.
/// Null and empty values remove an answer; only given values are checked. Beside the answers, the errors of all given values
/// and missing answers, with the ids of their questions.
pub fn merged(
    questions: &[Question],
    language: &Language,
    stored: &[Answer],
    given: &BTreeMap<QuestionId, Box<RawValue>>,
    clearing: Clearing,
) -> (Vec<Answer>, Vec<(QuestionId, AnswerError)>) {
    let mut errors = Vec::new();
    let mut answers: BTreeMap<QuestionId, Answer> =
        stored.iter().map(|answer| (answer.question_id, answer.clone())).collect();
    for (&id, value) in given {
        let question = questions.iter().find(|question| question.question_id == id);
        match question.map(|question| (question, checked(question, language, value, clearing))) {
            None => errors.push((id, AnswerError::UnknownQuestion)),
            Some((_, Err(error))) => errors.push((id, error)),
            Some((_, Ok(None))) => drop(answers.remove(&id)),
            Some((question, Ok(Some(value)))) => {
                let answer = Answer {
                    question_id: id,
                    question: question.wording.question.clone(),
                    question_type: question.wording.question_type,
                    value,
                };
                answers.insert(id, answer);
            }
        }
    }
    if clearing == Clearing::Never {
        let is_present = |id: &QuestionId| answers.contains_key(id) || given.contains_key(id);
        let missing = missing(&required(questions), language, is_present).into_iter();
        errors.extend(missing.map(|id| (id, ValueError::Required.into())));
    }
    let mut ordered: Vec<Answer> =
        questions.iter().filter_map(|question| answers.remove(&question.question_id)).collect();
    ordered.extend(answers.into_values());
    (ordered, errors)
}

/// The value of the answer to `question`; `None` if it is empty.
fn checked(
    question: &Question,
    language: &Language,
    value: &RawValue,
    clearing: Clearing,
) -> Result<Option<Box<RawValue>>, AnswerError> {
    if question.wording.language != *language {
        return Err(ValueError::Value.into());
    }
    let constraint = || constraint(question);
    let read = read(question, value).map_err(|error| AnswerError::Value(error, constraint()))?;
    if read.is_none() && question.wording.required && clearing != Clearing::Any {
        return Err(AnswerError::Value(ValueError::Required, constraint()));
    }
    Ok(read)
}

/// What an answer to `question` fulfils.
fn constraint(question: &Question) -> Constraint {
    let options = question.wording.options.iter().flatten();
    match question.wording.question_type {
        QuestionType::ShortReply => Line::<SHORT_REPLY>::constraint(),
        QuestionType::LongReply => Prose::<LONG_REPLY>::constraint(),
        QuestionType::SingleChoice | QuestionType::Dropdown => {
            Constraint::allowed(options.map(Line::as_str))
        }
        QuestionType::MultipleChoice => Constraint {
            allowed: Constraint::allowed(options.map(Line::as_str)).allowed,
            ..Constraint::length(1, *OPTIONS.end(), Unit::Elements)
        },
        QuestionType::YesNo => bool::constraint(),
        QuestionType::Number => Constraint {
            decimals: Some(DECIMALS),
            ..Constraint::range(-(MAX_NUMBER as f64), MAX_NUMBER as f64)
        },
        QuestionType::Date => Constraint {
            earliest: Some(Instant::start_of(*DATES.start())),
            latest: Some(Instant::start_of(*DATES.end())),
            ..Constraint::format("date")
        },
        QuestionType::Time => Constraint::format("time"),
        QuestionType::Scale => Constraint::whole(1, 10),
        QuestionType::Rating => Constraint::whole(1, 5),
        QuestionType::Email => Email::constraint(),
        QuestionType::Phone => E164::constraint(),
        QuestionType::File => Constraint::format("uuid"),
    }
}

/// Reads an answer to `question`; `None` for null, an empty list and a text in which nothing can be seen.
fn read(question: &Question, literal: &RawValue) -> Result<Option<Box<RawValue>>, ValueError> {
    let value: Value = serde_json::from_str(literal.get()).map_err(|_| ValueError::Type)?;
    let is_empty = match &value {
        Value::Null => true,
        Value::String(text) => is_blank(text),
        Value::Array(list) => list.is_empty(),
        _ => false,
    };
    if is_empty {
        return Ok(None);
    }
    let read = match question.wording.question_type {
        QuestionType::Number => number(&value, literal.get()),
        QuestionType::Scale => within(&value, 10),
        QuestionType::Rating => within(&value, 5),
        QuestionType::YesNo => value.as_bool().map(Value::from).ok_or(ValueError::Type).map(json),
        QuestionType::MultipleChoice => options(question, &value).map(json),
        kind => {
            let text = value.as_str().ok_or(ValueError::Type)?;
            textual(question, kind, text).map(|text| json(text.into()))
        }
    };
    read.map(Some)
}

fn json(value: Value) -> Box<RawValue> {
    // A `Value` can always be serialised.
    to_raw_value(&value).unwrap_or_default()
}

fn textual(question: &Question, kind: QuestionType, text: &str) -> Result<String, ValueError> {
    Ok(match kind {
        QuestionType::ShortReply => {
            // Pasted from a sheet or a mail.
            let line = text.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
            line.parse::<Line<SHORT_REPLY>>()?.as_str().to_owned()
        }
        QuestionType::LongReply => text.parse::<Prose<LONG_REPLY>>()?.as_str().to_owned(),
        QuestionType::Date => date(text)?,
        QuestionType::Time => time(text)?,
        QuestionType::Email => text.parse::<Email>()?.to_string(),
        QuestionType::Phone => text.parse::<E164>()?.to_string(),
        QuestionType::File => FileId::or_none(text).to_string(),
        _ => {
            let text = comparable(text);
            let mut options = question.wording.options.iter().flatten();
            let chosen = options.find(|option| comparable(option.as_str()) == text);
            chosen.ok_or(ValueError::Value)?.as_str().to_owned()
        }
    })
}

/// The chosen options, in the order of the question.
fn options(question: &Question, value: &Value) -> Result<Value, ValueError> {
    let chosen = value.as_array().ok_or(ValueError::Type)?;
    if chosen.len() > *OPTIONS.end() {
        return Err(ValueError::Length);
    }
    let texts = chosen.iter().map(|one| one.as_str().map(comparable).ok_or(ValueError::Type));
    let texts = texts.collect::<Result<Vec<String>, _>>()?;
    let options = question.wording.options.iter().flatten().map(Line::as_str);
    let found: Vec<&str> = options.filter(|option| texts.contains(&comparable(option))).collect();
    let distinct = texts.iter().collect::<BTreeSet<_>>().len();
    if found.len() < distinct {
        Err(ValueError::Value)
    } else if distinct < texts.len() {
        Err(ValueError::Repeated)
    } else {
        Ok(found.into())
    }
}

/// A whole number from 1 to `max`.
fn within(value: &Value, max: u64) -> Result<Box<RawValue>, ValueError> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0).ok_or(ValueError::Type)?;
    if (1.0..=max as f64).contains(&number) {
        Ok(json((number as u64).into()))
    } else {
        Err(ValueError::Value)
    }
}

/// A number with all its digits, in its shortest form.
fn number(value: &Value, literal: &str) -> Result<Box<RawValue>, ValueError> {
    if !value.is_number() {
        return Err(ValueError::Type);
    }
    let (is_negative, millionths) = price::scaled(literal, DECIMALS)?;
    let unit = 10_u64.pow(DECIMALS.into());
    if millionths > MAX_NUMBER.unsigned_abs() * unit {
        return Err(ValueError::Value);
    }
    let (whole, decimals) = (millionths / unit, format!("{:06}", millionths % unit));
    let sign = if is_negative && millionths > 0 { "-" } else { "" };
    let text =
        format!("{sign}{whole}.{decimals}").trim_end_matches('0').trim_end_matches('.').to_owned();
    RawValue::from_string(text).map_err(|_| ValueError::Format)
}

fn date(text: &str) -> Result<String, ValueError> {
    let text = text.trim();
    let is_plain = text.len() == 10 && text.bytes().all(|one| one.is_ascii_digit() || one == b'-');
    let date = text.parse::<Date>().ok().filter(|_| is_plain).ok_or(ValueError::Format)?;
    if DATES.contains(&date) { Ok(text.to_owned()) } else { Err(ValueError::Value) }
}

fn time(text: &str) -> Result<String, ValueError> {
    let text = text.trim();
    let is_plain = text.len() == 5 && text.bytes().all(|one| one.is_ascii_digit() || one == b':');
    let time = text.parse::<Time>().ok().filter(|_| is_plain && text.as_bytes()[2] == b':');
    time.map(|_| text.to_owned()).ok_or(ValueError::Format)
}
