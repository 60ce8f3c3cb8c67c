//! Field types: an accepted value is stored, read and displayed as the same value.

use std::fmt::Debug;

use domain::{
    CourseId, E164, Email, Instant, Line, Price, Profile, Prose, ShortCode, UserId, ValueError,
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
    assert_round_trip::<Line<200>>(written);
    assert_round_trip::<Line<11>>(written);
    assert_round_trip::<Prose<1000>>(written);
    assert_round_trip::<ShortCode>(written);
    assert_round_trip::<Email>(written);
    assert_round_trip::<E164>(written);
    assert_round_trip::<Price>(written);
    assert_round_trip::<Instant>(written);
    assert_round_trip::<Language>(written);
    assert_round_trip::<Currency>(written);
    assert_round_trip::<FileName>(written);
    assert_round_trip::<ContentType>(written);
    assert_round_trip::<SenderId>(written);
    assert_round_trip::<Text>(written);
    assert_round_trip::<Profile>(written);
    assert_round_trip::<QuestionType>(written);
    assert_round_trip::<UserId>(written);
    assert_round_trip::<CourseId>(written);
    assert_bounded(written);
}

fn assert_round_trip<
    T: std::str::FromStr<Err = ValueError> + Serialize + DeserializeOwned + PartialEq + Debug,
>(
    written: &str,
) {
    let Ok(value) = written.parse::<T>() else {
        return;
    };
    let stored = serde_json::to_string(&value).expect("it can be stored");
    assert_eq!(
        serde_json::from_str::<T>(&stored).ok().as_ref(),
        Some(&value),
        "{written:?} is stored as {stored}"
    );
    let shown = match serde_json::from_str(&stored).expect("JSON") {
        Value::String(text) => text,
        number => number.to_string(),
    };
    assert_eq!(shown.parse::<T>().as_ref(), Ok(&value), "{written:?} is shown as {shown:?}");
}

fn assert_bounded(written: &str) {
    if let (Ok(price), Ok(meant)) = (written.parse::<Price>(), serde_json::from_str::<f64>(written))
    {
        let stored = serde_json::to_string(&price).expect("a number");
        assert!(
            (stored.parse::<f64>().expect("a number") - meant).abs() < 1e-3,
            "{written} is stored as {stored}"
        );
    }
    if let Ok(line) = written.parse::<Line<200>>() {
        assert!(
            line.as_str().chars().count() <= 200
                && !line.as_str().chars().any(|letter| letter.is_ascii_control())
        );
    }
    if let Ok(name) = written.parse::<FileName>() {
        assert!(
            !name.as_str().contains(['/', '\\', '\u{202e}'])
                && name.as_str() == name.as_str().trim()
        );
    }
    assert!(folded(written).len() <= 40 * written.len(), "folding makes the text too long");
    for word in words(written) {
        assert!((1..=8).contains(&word.stems().len()), "{word:?}");
        let word = word.folded();
        assert!(
            (2..=64).contains(&word.chars().count()) && word.chars().all(char::is_alphanumeric),
            "{word:?}"
        );
    }
    let options: Option<Vec<Line<200>>> =
        written.split('\n').map(|option| option.parse().ok()).collect();
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
