//! The questions of a course.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::{
    CourseId, Instant, Line, Prose, QuestionId, ValueError, choice::choice, course::Language,
};

choice! {
    /// How a question is answered.
    QuestionType {
        /// A line of text.
        ShortReply "SHORT_REPLY"
        /// Several lines.
        LongReply "LONG_REPLY"
        /// One of the options.
        SingleChoice "SINGLE_CHOICE"
        /// Any of the options.
        MultipleChoice "MULTIPLE_CHOICE"
        /// One of the options, in a menu.
        Dropdown "DROPDOWN"
        /// Yes or no.
        YesNo "YES_NO"
        /// A number.
        Number "NUMBER"
        /// A date.
        Date "DATE"
        /// A time of the day.
        Time "TIME"
        /// A place on a scale.
        Scale "SCALE"
        /// Stars.
        Rating "RATING"
        /// An e-mail address.
        Email "EMAIL"
        /// A telephone number.
        Phone "PHONE"
        /// A file.
        File "FILE"
    }
}

impl QuestionType {
    /// Whether the answer is chosen from options.
    pub const fn has_options(self) -> bool {
        matches!(
            self,
            Self::SingleChoice | Self::MultipleChoice | Self::Dropdown
        )
    }
}

/// One of the answers to choose from.
pub type QuestionOption = Line<200>;

/// A course has no more questions than these.
pub const MOST_QUESTIONS: u32 = 200;
/// All questions of a course together are no longer, in bytes of JSON.
pub const MOST_BYTES: u64 = 1_000_000;

/// What a writer says of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wording {
    /// In which language.
    pub language: Language,
    /// The question.
    pub question: Prose<1000>,
    /// How it is answered.
    pub question_type: QuestionType,
    /// Whether it must be answered.
    pub required: bool,
    /// What to choose from; `None` where nothing is chosen.
    pub options: Option<Vec<QuestionOption>>,
}

/// A question of a course, as it is stored: where it stands among the others, the course knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Which one.
    #[serde(rename = "questionID")]
    pub question_id: QuestionId,
    /// Of which course.
    #[serde(rename = "courseID")]
    pub course_id: CourseId,
    /// What it asks.
    #[serde(flatten)]
    pub wording: Wording,
    /// When it was added.
    pub created_at: Instant,
}

/// A question at its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlacedQuestion {
    /// The question.
    #[serde(flatten)]
    pub question: Question,
    /// Where it stands, from 1.
    pub order: usize,
}

/// Checks `options` against what `question_type` takes: 2 to 50 different ones, or none at all.
///
/// # Errors
/// `Required` where they are missing, `Length` for too few or too many, `Value` for equal ones and for a
/// question that is not answered by choosing.
pub fn check_options(
    question_type: QuestionType,
    options: Option<Vec<QuestionOption>>,
) -> Result<Option<Vec<QuestionOption>>, ValueError> {
    let options = options.filter(|options| !options.is_empty());
    match (question_type.has_options(), options) {
        (false, None) => Ok(None),
        (false, Some(_)) => Err(ValueError::Value),
        (true, None) => Err(ValueError::Required),
        (true, Some(options)) if !(2..=50).contains(&options.len()) => Err(ValueError::Length),
        (true, Some(options)) if options.iter().collect::<HashSet<_>>().len() < options.len() => {
            Err(ValueError::Value)
        }
        (true, options) => Ok(options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_chosen_from_has_options() {
        let options = |texts: &[&str]| {
            Some(
                texts
                    .iter()
                    .map(|text| text.parse().unwrap())
                    .collect::<Vec<QuestionOption>>(),
            )
        };
        for (question_type, given, expected) in [
            (QuestionType::ShortReply, None, None),
            (QuestionType::ShortReply, options(&[]), None),
            (
                QuestionType::YesNo,
                options(&["oui", "non"]),
                Some(ValueError::Value),
            ),
            (QuestionType::Dropdown, None, Some(ValueError::Required)),
            (
                QuestionType::Dropdown,
                options(&[]),
                Some(ValueError::Required),
            ),
            (
                QuestionType::SingleChoice,
                options(&["oui"]),
                Some(ValueError::Length),
            ),
            (
                QuestionType::SingleChoice,
                options(&["oui", " oui "]),
                Some(ValueError::Value),
            ),
            (QuestionType::MultipleChoice, options(&["نعم", "لا"]), None),
        ] {
            assert_eq!(
                check_options(question_type, given.clone()).err(),
                expected,
                "{question_type:?} {given:?}"
            );
        }
        let many: Vec<String> = (0..51).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(check_options(QuestionType::Dropdown, options(&many[..50])).is_ok());
        assert_eq!(
            check_options(QuestionType::Dropdown, options(&many)),
            Err(ValueError::Length)
        );
    }
}
