//! Texts of one line: trimmed, without control characters, bounded in code points.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Flaw;

/// One line of 1 to `MAX` code points, trimmed, without U+0000–001F and U+007F.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Line<const MAX: usize>(String);

/// The name of a person.
pub type Name = Line<100>;

impl<const MAX: usize> FromStr for Line<MAX> {
    type Err = Flaw;

    /// `Required` for nothing but white space, `Format` for control characters, `Length` beyond `MAX`.
    fn from_str(text: &str) -> Result<Self, Flaw> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Flaw::Required);
        }
        if text.chars().any(|letter| letter.is_ascii_control()) {
            return Err(Flaw::Format);
        }
        if text.chars().count() > MAX {
            return Err(Flaw::Length);
        }
        Ok(Self(text.to_owned()))
    }
}

impl<const MAX: usize> Line<MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> fmt::Display for Line<MAX> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A short code: 1 to 10 upper-case ASCII letters, digits or underscores, such as a committee's type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShortCode(String);

impl FromStr for ShortCode {
    type Err = Flaw;

    /// As [`Line`], and `Format` for any other letter.
    fn from_str(text: &str) -> Result<Self, Flaw> {
        let line: Line<10> = text.parse()?;
        let known = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if line.0.bytes().all(known) { Ok(Self(line.0)) } else { Err(Flaw::Format) }
    }
}

/// `text` as it is sorted and searched: NFKD, marks dropped, case folded, so that `Évian` stands beside
/// `evian` and `Straße` beside `STRASSE`.
pub fn folded(text: &str) -> String {
    use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
    text.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_trimmed_and_bounded_in_code_points() {
        for (text, expected) in [
            ("  Amel ", Ok("Amel")),
            ("أمل", Ok("أمل")),
            ("éééé", Ok("éééé")),
            ("ééééé", Err(Flaw::Length)),
            (" \u{a0}\t\n ", Err(Flaw::Required)),
            ("a\nb", Err(Flaw::Format)),
            ("a\u{7f}", Err(Flaw::Format)),
            ("\u{0}", Err(Flaw::Format)),
        ] {
            assert_eq!(text.parse::<Line<4>>().as_ref().map(Line::as_str), expected.as_ref().copied(), "{text:?}");
        }
    }

    #[test]
    fn folding_drops_accents_and_case() {
        assert_eq!(folded("Éléonore ÇELIK"), "eleonore celik");
        assert_eq!(folded("Straße"), folded("STRASSE"));
        assert_eq!(folded("Οδυσσεύς"), folded("ΟΔΥΣΣΕΥΣ"));
    }

    #[test]
    fn a_short_code_takes_upper_case_letters_digits_and_underscores() {
        assert!("REG_01".parse::<ShortCode>().is_ok());
        assert_eq!("reg".parse::<ShortCode>(), Err(Flaw::Format));
        assert_eq!("ABCDEFGHIJK".parse::<ShortCode>(), Err(Flaw::Length));
    }
}
