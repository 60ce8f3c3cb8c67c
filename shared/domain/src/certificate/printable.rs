//! The characters that certificates can be printed with.

use unicode_normalization::UnicodeNormalization;

use crate::text::is_invisible;

/// The characters of the fonts of certificates; the line breaks are none of them. The fonts are made from this list.
pub const PRINTABLE: &str = include_str!("printable.txt");

/// `text` as it is printed: composed (NFC), with one space for each white space but line breaks, and without characters that
/// cannot be seen.
pub fn printed(text: &str) -> String {
    let letters = text.chars().filter(|letter| letter.is_whitespace() || !is_invisible(*letter));
    let spaced = |letter: char| if letter.is_whitespace() && letter != '\n' { ' ' } else { letter };
    letters.map(spaced).nfc().collect()
}

/// The characters of `text` that cannot be printed, each once.
pub fn unprintable(text: &str) -> Vec<char> {
    let mut missing = Vec::new();
    for letter in printed(text).chars() {
        if letter != '\n' && !PRINTABLE.contains(letter) && !missing.contains(&letter) {
            missing.push(letter);
        }
    }
    missing
}
