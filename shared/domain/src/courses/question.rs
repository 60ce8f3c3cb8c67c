//! Questions of a course.

use std::{collections::HashSet, ops::RangeInclusive};

use serde::{Deserialize, Serialize};

use crate::{
    CourseId, Instant, Line, Prose, QuestionId, ValueError, choice::choice, course::Language,
    text::comparable,
};

choice! {
    /// The kind of answer that a question expects.
    QuestionType {
        /// One line of text.
        ShortReply "SHORT_REPLY"
        /// Several lines of text.
        LongReply "LONG_REPLY"
        /// One of the options.
        SingleChoice "SINGLE_CHOICE"
        /// Any number of the options.
        MultipleChoice "MULTIPLE_CHOICE"
        /// One of the options, shown as a menu.
        Dropdown "DROPDOWN"
        /// Yes or no.
        YesNo "YES_NO"
        /// A number.
        Number "NUMBER"
        /// A date.
        Date "DATE"
        /// A time of the day.
        Time "TIME"
        /// A value on a scale.
        Scale "SCALE"
        /// A number of stars.
        Rating "RATING"
        /// An e-mail address.
        Email "EMAIL"
        /// A phone number.
        Phone "PHONE"
        /// A file.
        File "FILE"
    }
}

impl QuestionType {
    /// Whether a question of this type has options.
    pub const fn has_options(self) -> bool {
        matches!(self, Self::SingleChoice | Self::MultipleChoice | Self::Dropdown)
    }
}

/// An option of a question, 1 to 200 code points.
pub type QuestionOption = Line<200>;

/// Most questions of one course.
pub const MAX_QUESTIONS: usize = 200;
/// Largest total size of a course's questions, in bytes of JSON.
pub const MOST_BYTES: usize = 300_000;

/// The content of a question, as its author writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionContent {
    /// Language of the question.
    pub language: Language,
    /// Text of the question.
    pub question: Prose<1000>,
    /// Kind of answer.
    pub question_type: QuestionType,
    /// Whether an answer is required.
    pub required: bool,
    /// Options; `None` if the type has none. See [`check_options`].
    pub options: Option<Vec<QuestionOption>>,
}

/// A question as it is stored. A course has a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The question's identifier.
    #[serde(rename = "questionID")]
    pub question_id: QuestionId,
    /// The course that the question belongs to.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// The content.
    #[serde(flatten)]
    pub wording: QuestionContent,
    /// When the question was created.
    pub created_at: Instant,
}

/// A question that requires an answer: what lists of registrations need of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequiredQuestion {
    /// The question's identifier.
    #[serde(rename = "questionID")]
    pub question_id: QuestionId,
    /// Its language.
    pub language: Language,
}

/// The required ones of `questions`, in their order.
pub fn required(questions: &[Question]) -> Vec<RequiredQuestion> {
    let required = questions.iter().filter(|question| question.wording.required);
    let of = |question: &Question| RequiredQuestion {
        question_id: question.question_id,
        language: question.wording.language.clone(),
    };
    required.map(of).collect()
}

/// How many options a question of a type with options has.
pub const OPTIONS: RangeInclusive<usize> = 2..=50;

/// Checks that `options` fit `question_type`: 2 to 50 different ones, or none. An empty list counts as none.
///
/// # Errors
/// `Required` if they are missing, `Length` for too few or too many, `Value` for duplicates or if the type has no
/// options.
pub fn check_options(
    question_type: QuestionType,
    options: Option<Vec<QuestionOption>>,
) -> Result<Option<Vec<QuestionOption>>, ValueError> {
    let options = options.filter(|options| !options.is_empty());
    match (question_type.has_options(), options) {
        (false, None) => Ok(None),
        (false, Some(_)) => Err(ValueError::Value),
        (true, None) => Err(ValueError::Required),
        (true, Some(options)) if !OPTIONS.contains(&options.len()) => Err(ValueError::Length),
        (true, Some(options)) if distinct(&options) < options.len() => Err(ValueError::Value),
        (true, options) => Ok(options),
    }
}

/// The number of options that differ to those who read them.
fn distinct(options: &[QuestionOption]) -> usize {
    options.iter().map(|option| comparable(option.as_str())).collect::<HashSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_options_must_fit_question_type() {
        let options = |texts: &[&str]| {
            Some(texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<QuestionOption>>())
        };
        for (question_type, given, expected) in [
            (QuestionType::ShortReply, None, None),
            (QuestionType::ShortReply, options(&[]), None),
            (QuestionType::YesNo, options(&["oui", "non"]), Some(ValueError::Value)),
            (QuestionType::Dropdown, None, Some(ValueError::Required)),
            (QuestionType::Dropdown, options(&[]), Some(ValueError::Required)),
            (QuestionType::SingleChoice, options(&["oui"]), Some(ValueError::Length)),
            (QuestionType::SingleChoice, options(&["oui", " oui "]), Some(ValueError::Value)),
            (QuestionType::SingleChoice, options(&["oui", "oui\u{200b}"]), Some(ValueError::Value)),
            (
                QuestionType::SingleChoice,
                options(&["oui", "oui \u{200b}"]),
                Some(ValueError::Value),
            ),
            (
                QuestionType::SingleChoice,
                options(&["é", "e\u{200b}\u{301}"]),
                Some(ValueError::Value),
            ),
            (
                QuestionType::SingleChoice,
                options(&["été", "e\u{301}te\u{301}"]),
                Some(ValueError::Value),
            ),
            (QuestionType::SingleChoice, options(&["oui", "Oui"]), None),
            (QuestionType::MultipleChoice, options(&["نعم", "لا"]), None),
        ] {
            assert_eq!(
                check_options(question_type, given.clone()).err(),
                expected,
                "{question_type:?} {given:?}"
            );
        }
        let many = |count: u32| {
            let texts = (0..count).map(|number| number.to_string().parse().unwrap());
            check_options(QuestionType::Dropdown, Some(texts.collect())).err()
        };
        assert_eq!((many(50), many(51)), (None, Some(ValueError::Length)));
    }
}
