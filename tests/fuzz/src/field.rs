//! The types of fields: what one takes is kept, and read from where it is kept, as the same, and is taken again.

use std::fmt::Debug;

use domain::{
    CourseId, E164, Email, ValueError, Instant, Line, Price, Profile, Prose, ShortCode, UserId,
    agent::Agent,
    course::{Currency, Language},
    file::{ContentType, FileName},
    folded, password,
    question::{QuestionType, check_options},
    sms::{SenderId, Text},
    words,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::text;

pub(crate) fn run(input: &[u8]) {
    let Some(written) = text(input) else { return };
    same::<Line<200>>(written);
    same::<Line<11>>(written);
    same::<Prose<1000>>(written);
    same::<ShortCode>(written);
    same::<Email>(written);
    same::<E164>(written);
    same::<Price>(written);
    same::<Instant>(written);
    same::<Language>(written);
    same::<Currency>(written);
    same::<FileName>(written);
    same::<ContentType>(written);
    same::<SenderId>(written);
    same::<Text>(written);
    same::<Profile>(written);
    same::<QuestionType>(written);
    same::<UserId>(written);
    same::<CourseId>(written);
    bounded(written);
}

fn same<T: std::str::FromStr<Err = ValueError> + Serialize + DeserializeOwned + PartialEq + Debug>(
    written: &str,
) {
    let Ok(value) = written.parse::<T>() else {
        return;
    };
    let kept = serde_json::to_string(&value).expect("it can be kept");
    assert_eq!(
        serde_json::from_str::<T>(&kept).ok().as_ref(),
        Some(&value),
        "{written:?} is kept as {kept}"
    );
    let shown = match serde_json::from_str(&kept).expect("JSON") {
        Value::String(text) => text,
        number => number.to_string(),
    };
    assert_eq!(
        shown.parse::<T>().as_ref(),
        Ok(&value),
        "{written:?} is shown as {shown:?}"
    );
}

fn bounded(written: &str) {
    if let (Ok(price), Ok(meant)) = (
        written.parse::<Price>(),
        serde_json::from_str::<f64>(written),
    ) {
        let kept = serde_json::to_string(&price).expect("a number");
        assert!(
            (kept.parse::<f64>().expect("a number") - meant).abs() < 1e-3,
            "{written} is not {kept}"
        );
    }
    if let Ok(line) = written.parse::<Line<200>>() {
        assert!(
            line.as_str().chars().count() <= 200
                && !line
                    .as_str()
                    .chars()
                    .any(|letter| letter.is_ascii_control())
        );
    }
    if let Ok(name) = written.parse::<FileName>() {
        assert!(
            !name.as_str().contains(['/', '\\', '\u{202e}'])
                && name.as_str() == name.as_str().trim()
        );
    }
    assert!(
        folded(written).len() <= 40 * written.len(),
        "folding makes it so long"
    );
    for word in words(written) {
        assert!(
            (2..=64).contains(&word.chars().count()) && word.chars().all(char::is_alphanumeric),
            "{word:?}"
        );
    }
    let options: Option<Vec<Line<200>>> = written
        .split('\n')
        .map(|option| option.parse().ok())
        .collect();
    if let Ok(Some(options)) = check_options(QuestionType::Dropdown, options) {
        assert!((2..=50).contains(&options.len()));
    }
    if password::check(written, 8, None).is_ok() {
        assert!((8..=128).contains(&password::normalized(written).chars().count()));
    }
    assert!(
        ["unknown", "desktop", "mobile", "tablet"].contains(&Agent::of(written).device.as_str())
    );
}
