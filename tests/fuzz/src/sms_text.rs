//! SMS texts: segments follow 3GPP TS 23.038 and add up to the text; template values are inserted only once.

use std::collections::BTreeMap;

use domain::{
    segments::{Encoding, measure, parts},
    sms::{MAX_BYTES, Text},
    template::render,
};

use crate::text;

/// The default alphabet of 3GPP TS 23.038 without the escape character; [`EXTENSION`] contains what follows an escape.
const DEFAULT: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
    ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const EXTENSION: &str = "\u{c}^{}\\[~]|€";

pub(crate) fn run(input: &[u8]) {
    let Some(written) = text(input) else { return };
    check_segments(written);
    if let Ok(accepted) = written.parse::<Text>() {
        assert!(accepted.as_str() == written && written.len() <= MAX_BYTES);
    }
    // The first line is the template; the others are `name=value`.
    let mut lines = written.split('\n');
    let template = lines.next().unwrap_or_default();
    let values: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    check_template(template, &values);
}

fn check_segments(written: &str) {
    let (measured, parts) = (measure(written), parts(written));
    let is_gsm =
        written.chars().all(|letter| DEFAULT.contains(letter) || EXTENSION.contains(letter));
    assert_eq!(measured.encoding, if is_gsm { Encoding::Gsm7 } else { Encoding::Ucs2 });
    let taken = |letter: char| match measured.encoding {
        Encoding::Gsm7 => 1 + usize::from(EXTENSION.contains(letter)),
        Encoding::Ucs2 => letter.len_utf16(),
    };
    let length = |text: &str| text.chars().map(taken).sum::<usize>();
    let (single, each) = if is_gsm { (160, 153) } else { (70, 67) };
    assert_eq!(usize::try_from(measured.segments), Ok(parts.len()));
    assert_eq!(parts.concat(), written);
    match parts.as_slice() {
        [only] => assert!(length(only) <= single),
        parts => {
            assert!(length(written) > single);
            for pair in parts.windows(2) {
                let next = pair[1].chars().next().expect("no part is empty");
                assert!(
                    length(pair[0]) <= each && length(pair[0]) + taken(next) > each,
                    "{parts:?}"
                );
            }
            assert!(parts.last().is_some_and(|last| (1..=each).contains(&length(last))));
        }
    }
}

/// Compares with a substitution in two steps, name to private-use character to value, which never interprets a value.
fn check_template(template: &str, values: &BTreeMap<String, String>) {
    let result = render(template, values, MAX_BYTES);
    let Ok(text) = &result else { return };
    assert!(text.len() <= MAX_BYTES);
    let is_private = |letter: char| ('\u{e000}'..='\u{f8ff}').contains(&letter);
    if template.contains(is_private)
        || values.values().any(|value| value.contains(is_private))
        || values.len() > 6000
    {
        return;
    }
    let letters = || ('\u{e000}'..='\u{f8ff}').map(String::from);
    let marked = values.keys().cloned().zip(letters()).collect();
    let marked = render(template, &marked, usize::MAX).expect("the same names have values");
    let again = values
        .values()
        .zip(letters())
        .fold(marked, |text, (value, letter)| text.replace(&letter, value));
    assert_eq!(*text, again);
}
