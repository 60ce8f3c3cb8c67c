//! Validated texts, and the normalisation for sorting and search.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ValueError;

/// One line of text: trimmed, 1 to `MAX` code points, without control characters (U+0000–001F, U+007F) and without
/// bidirectional controls (U+202A–202E, U+2066–2069), which can make a text look like another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Line<const MAX: usize>(String);

/// A first or last name.
pub type Name = Line<100>;

impl<const MAX: usize> FromStr for Line<MAX> {
    type Err = ValueError;

    /// `Required` for white space alone, `Format` for control characters, `Length` beyond `MAX` code points.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ValueError::Required);
        }
        let is_bidi = |letter| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if text.chars().any(|letter: char| letter.is_ascii_control() || is_bidi(letter)) {
            return Err(ValueError::Format);
        }
        if text.chars().count() > MAX {
            return Err(ValueError::Length);
        }
        Ok(Self(text.to_owned()))
    }
}

impl<const MAX: usize> Line<MAX> {
    /// The trimmed line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> fmt::Display for Line<MAX> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A code of 1 to 10 upper-case ASCII letters, digits or underscores, such as a committee's type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShortCode(String);

impl ShortCode {
    /// The code.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ShortCode {
    type Err = ValueError;

    /// As [`Line`], and `Format` for any other character.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let line: Line<10> = text.parse()?;
        let is_allowed =
            |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if line.0.bytes().all(is_allowed) { Ok(Self(line.0)) } else { Err(ValueError::Format) }
    }
}

/// A text of 1 to `MAX` code points, stored unchanged. It can contain line breaks and tabs, but no other ASCII control
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prose<const MAX: usize>(String);

impl<const MAX: usize> FromStr for Prose<MAX> {
    type Err = ValueError;

    /// `Required` for white space alone, `Format` for control characters except `\n \r \t`, `Length` beyond `MAX` code
    /// points.
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
    /// The text, unchanged.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Normalises `text` for sorting and search: NFKD, combining marks and invisible characters removed, case folded,
/// Arabic letter variants and digits unified. `Évian` becomes equal to `evian`, `Straße` to `STRASSE`, `أحمد` to
/// `احمد`.
pub fn folded(text: &str) -> String {
    use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
    let letters = text
        .nfkd()
        .filter(|letter| !is_combining_mark(*letter) && !is_invisible(*letter))
        .map(unified);
    // Lower, upper, lower: ẞ → ß → SS → ss.
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

/// Characters that only affect the display of others: joiners, direction marks, the Arabic tatweel.
pub(crate) const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{640}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Maps Arabic letters that are used interchangeably to one of them, and Arabic digits to ASCII. NFKD has already
/// decomposed alef, waw and yeh with hamza.
pub(crate) fn unified(letter: char) -> char {
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
