//! Validated texts, and the normalisation for sorting and search.

use std::{fmt, str::FromStr};

use icu_properties::{
    CodePointMapData, CodePointSetData,
    props::{DefaultIgnorableCodePoint, GeneralCategory},
};
use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::ValueError;

/// Gives the text of a type that wraps it.
macro_rules! as_str {
    ($type:ty $(, $generic:tt)*) => {
        impl $(<const $generic: usize>)* $type {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

pub(crate) use as_str;

as_str!(Line<MAX>, MAX);
as_str!(Prose<MAX>, MAX);
as_str!(ShortCode);

/// One line of text: trimmed, 1 to `MAX` code points, without control characters (U+0000–001F, U+007F–009F), line and
/// paragraph separators (U+2028, U+2029) and bidirectional controls (U+202A–202E, U+2066–2069), which can make a text
/// look like another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Line<const MAX: usize>(String);

/// A first or last name.
pub type Name = Line<100>;

impl<const MAX: usize> FromStr for Line<MAX> {
    type Err = ValueError;

    /// `Required` for a [blank](is_blank) text, `Format` for a forbidden character, `Length` beyond `MAX` code points.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let is_forbidden = |letter: char| {
            letter.is_control()
                || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        checked(text.trim(), MAX, is_forbidden).map(Self)
    }
}

/// `text` if it is not blank, has no `forbidden` character, and at most `max` code points.
fn checked(text: &str, max: usize, forbidden: fn(char) -> bool) -> Result<String, ValueError> {
    if text.trim().is_empty() {
        Err(ValueError::Required)
    } else if text.contains(forbidden) {
        Err(ValueError::Format)
    } else if is_blank(text) {
        Err(ValueError::Required)
    } else if text.chars().count() > max {
        Err(ValueError::Length)
    } else {
        Ok(text.to_owned())
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

/// A text of 1 to `MAX` code points. It can contain line breaks, which are `\n` whatever was typed, and tabs, but no other
/// control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prose<const MAX: usize>(String);

impl<const MAX: usize> FromStr for Prose<MAX> {
    type Err = ValueError;

    /// `Required` for a [blank](is_blank) text, `Format` for control characters except `\n \r \t`, `Length` beyond `MAX` code
    /// points, of which a line break is one.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let is_forbidden = |letter: char| letter.is_control() && !['\n', '\t'].contains(&letter);
        checked(&text, MAX, is_forbidden).map(Self)
    }
}

/// Normalises `text` for sorting and search: NFKD, combining marks and invisible characters removed, case folded,
/// Arabic letter variants and digits unified. `Évian` becomes equal to `evian`, `Straße` to `STRASSE`, `أحمد` to
/// `احمد`.
pub fn folded(text: &str) -> String {
    let letters = text
        .nfkd()
        .filter(|letter| !is_combining_mark(*letter) && !is_unwritten(*letter))
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
            'þ' => folded.push_str("th"),
            letter => folded.push(letter),
        }
        folded
    })
}

/// Whether nothing of `text` can be seen: it has only white space, control and format characters, fillers, and marks
/// without a base.
pub fn is_blank(text: &str) -> bool {
    !text.contains(is_base)
}

/// The number of code points of `text` that can be seen: those of its words, and one for each gap between two words.
pub(crate) fn visible(text: &str) -> usize {
    let words = text.split(is_gap).map(|word| word.trim_start_matches(|letter| !is_base(letter)));
    let words = words.filter(|word| !word.is_empty());
    let length =
        |word: &str| word.chars().filter(|letter| is_base(*letter) || is_mark(*letter)).count();
    words.map(|word| length(word) + 1).sum::<usize>().saturating_sub(1)
}

/// White space, and the Braille pattern without dots.
fn is_gap(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{2800}'
}

/// Whether `letter` can be seen by itself.
fn is_base(letter: char) -> bool {
    !is_gap(letter) && !is_mark(letter) && !is_invisible(letter)
}

/// Whether `letter` is not displayed, or is a control or format character.
pub(crate) fn is_invisible(letter: char) -> bool {
    use GeneralCategory::{Control, Format};
    let category = CodePointMapData::<GeneralCategory>::new().get(letter);
    is_ignorable(letter) || matches!(category, Control | Format)
}

/// Whether `letter` is drawn on the one before it.
fn is_mark(letter: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark, SpacingMark};
    let category = CodePointMapData::<GeneralCategory>::new().get(letter);
    !is_ignorable(letter) && matches!(category, EnclosingMark | NonspacingMark | SpacingMark)
}

/// `text` as it is compared with others: without characters that cannot be seen, composed (NFC), and trimmed.
pub fn comparable(text: &str) -> String {
    let seen = text.chars().filter(|letter| !is_ignorable(*letter));
    seen.nfc().collect::<String>().trim().to_owned()
}

/// Joiners, direction marks, fillers and others that are not displayed
/// (<https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point>).
fn is_ignorable(letter: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(letter)
}

/// Characters that are not displayed, and the Arabic tatweel, which only stretches a word.
pub(crate) fn is_unwritten(letter: char) -> bool {
    letter == '\u{640}' || is_ignorable(letter)
}

/// Maps Arabic letters that are used interchangeably to one of them, and Arabic digits to ASCII. NFKD has already
/// decomposed alef, waw and yeh with hamza.
pub(crate) fn unified(letter: char) -> char {
    match letter {
        'ٱ' => 'ا',
        'ڨ' => 'ق',
        // Latin letters that NFKD does not decompose.
        'ł' | 'Ł' => 'l',
        'ø' | 'Ø' => 'o',
        'đ' | 'Đ' | 'ð' | 'Ð' => 'd',
        'ħ' | 'Ħ' => 'h',
        'ı' => 'i',
        '‘' | '’' | 'ʼ' => '\'',
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
