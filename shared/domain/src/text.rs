//! Texts of one line: trimmed, without control characters, bounded in code points.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ValueError;

/// One line of 1 to `MAX` code points, trimmed, without U+0000–001F and U+007F.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Line<const MAX: usize>(String);

/// The name of a person.
pub type Name = Line<100>;

impl<const MAX: usize> FromStr for Line<MAX> {
    type Err = ValueError;

    /// `Required` for nothing but white space, `Format` for control characters, `Length` beyond `MAX`.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ValueError::Required);
        }
        if text.chars().any(|letter| letter.is_ascii_control()) {
            return Err(ValueError::Format);
        }
        if text.chars().count() > MAX {
            return Err(ValueError::Length);
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
    type Err = ValueError;

    /// As [`Line`], and `Format` for any other letter.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let line: Line<10> = text.parse()?;
        let known = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if line.0.bytes().all(known) {
            Ok(Self(line.0))
        } else {
            Err(ValueError::Format)
        }
    }
}

/// A text of 1 to `MAX` code points, kept as it was written: line breaks and tabs may stand in it, no
/// other control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prose<const MAX: usize>(String);

impl<const MAX: usize> FromStr for Prose<MAX> {
    type Err = ValueError;

    /// `Required` for nothing but white space, `Format` for other control characters than `\n \r \t`,
    /// `Length` beyond `MAX`.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        if text.trim().is_empty() {
            return Err(ValueError::Required);
        }
        if text
            .chars()
            .any(|letter| letter.is_ascii_control() && !['\n', '\r', '\t'].contains(&letter))
        {
            return Err(ValueError::Format);
        }
        if text.chars().count() > MAX {
            return Err(ValueError::Length);
        }
        Ok(Self(text.to_owned()))
    }
}

impl<const MAX: usize> Prose<MAX> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `text` as it is sorted and searched: NFKD, marks dropped, case folded, Arabic letter forms and digits
/// unified, so that `Évian` stands beside `evian`, `Straße` beside `STRASSE` and `أحمد` beside `احمد`.
pub fn folded(text: &str) -> String {
    use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
    let letters = text
        .nfkd()
        .filter(|letter| !is_combining_mark(*letter) && !is_invisible(*letter))
        .map(unified);
    // There and back and there: ẞ is ß is SS is ss.
    let letters = letters
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase);
    letters.fold(String::new(), |mut folded, letter| {
        match letter {
            'œ' => folded.push_str("oe"),
            'æ' => folded.push_str("ae"),
            letter => folded.push(letter),
        }
        folded
    })
}

/// The words of `text`, folded: runs of letters and digits, of two or more, cut at 64.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> = folded(text)
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().nth(1).is_some())
        .map(|word| word.chars().take(64).collect())
        .collect();
    words.into_iter()
}

/// What only shapes or stretches the letters beside it: joiners, direction marks, the Arabic tatweel.
pub(crate) const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{640}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// One letter for the Arabic ones that people write for each other, and European digits. Alef, waw and yeh
/// with a hamza are taken apart by NFKD already.
fn unified(letter: char) -> char {
    match letter {
        'ٱ' => 'ا',
        'ى' | 'ی' => 'ي',
        'ة' => 'ه',
        'ک' => 'ك',
        '٠'..='٩' => digit(letter, '٠'),
        '۰'..='۹' => digit(letter, '۰'),
        letter => letter,
    }
}

fn digit(letter: char, zero: char) -> char {
    char::from_digit(u32::from(letter) - u32::from(zero), 10).unwrap_or(letter)
}

#[cfg(test)]
mod tests;
