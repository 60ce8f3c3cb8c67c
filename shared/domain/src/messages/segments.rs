//! Encoding and segments of a text message.
//!
//! By GSM 03.38, today 3GPP TS 23.038, a single segment has 160 septets of the default alphabet or 70 UTF-16 code
//! units. Each segment of a longer message has 153 or 67, because a header takes the rest. A character of two septets
//! or units is not split between segments, so a text may need one segment more than its length suggests.

use std::iter;

use serde::{Deserialize, Serialize};

/// The encoding of a text message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Encoding {
    /// The GSM 7-bit default alphabet with its extension table; used if it contains every character of the text.
    #[serde(rename = "GSM-7")]
    Gsm7,
    /// UTF-16, which phones read although the standard says UCS-2; used for all other texts.
    #[serde(rename = "UCS-2")]
    Ucs2,
}

impl Encoding {
    fn of(text: &str) -> Self {
        if text.chars().all(|letter| septets(letter).is_some()) { Self::Gsm7 } else { Self::Ucs2 }
    }

    /// Capacity of a single segment, and of each segment of a longer message.
    const fn capacity(self) -> (usize, usize) {
        match self {
            Self::Gsm7 => (160, 153),
            Self::Ucs2 => (70, 67),
        }
    }

    /// Septets or code units of `letter`.
    fn length(self, letter: char) -> usize {
        match self {
            Self::Gsm7 => septets(letter).unwrap_or_default(),
            Self::Ucs2 => letter.len_utf16(),
        }
    }
}

/// Encoding and number of segments of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Measured {
    /// The encoding.
    pub encoding: Encoding,
    /// The number of segments; 1 for an empty text.
    pub segments: u32,
}

/// The encoding of `text` and the number of its segments.
pub fn measure(text: &str) -> Measured {
    let encoding = Encoding::of(text);
    Measured { encoding, segments: split(text, encoding).map(|_| 1).sum() }
}

/// Splits `text` into its segments, as many as [`measure`] counts.
pub fn parts(text: &str) -> Vec<&str> {
    split(text, Encoding::of(text)).collect()
}

fn split(text: &str, encoding: Encoding) -> impl Iterator<Item = &str> {
    let (single, each) = encoding.capacity();
    let length: usize = text.chars().map(|letter| encoding.length(letter)).sum();
    let capacity = if length <= single { single } else { each };
    let mut rest = Some(text);
    iter::from_fn(move || {
        let text = rest?;
        let mut length = 0;
        let next = text.char_indices().find(|&(_, letter)| {
            length += encoding.length(letter);
            length > capacity
        });
        let (part, left) = next.map_or((text, None), |(end, _)| (&text[..end], Some(&text[end..])));
        rest = left;
        Some(part)
    })
}

/// Number of septets: 1 in the default alphabet, 2 in the extension table (escape and character), `None` in neither.
/// The escape is not a character of its own.
const fn septets(letter: char) -> Option<usize> {
    match letter {
        '\n' | '\r' | ' '..='Z' | '_' | 'a'..='z' => Some(1),
        '¡' | '£' | '¤' | '¥' | '§' | '¿' | 'Ä' | 'Å' | 'Æ' | 'Ç' | 'É' | 'Ñ' | 'Ö' | 'Ø' | 'Ü'
        | 'ß' => Some(1),
        'à' | 'ä' | 'å' | 'æ' | 'è' | 'é' | 'ì' | 'ñ' | 'ò' | 'ö' | 'ø' | 'ù' | 'ü' => {
            Some(1)
        }
        'Γ' | 'Δ' | 'Θ' | 'Λ' | 'Ξ' | 'Π' | 'Σ' | 'Φ' | 'Ψ' | 'Ω' => Some(1),
        '\u{c}' | '^' | '{' | '}' | '\\' | '[' | '~' | ']' | '|' | '€' => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
