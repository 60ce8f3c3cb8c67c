//! How long a text message is on the air: which alphabet it travels in, and in how many parts.
//!
//! GSM 03.38, today 3GPP TS 23.038: one part has room for 160 septets of the default alphabet or for
//! 70 UTF-16 code units; each of several for 153 or 67, for a header says which one it is. What two
//! septets or two units write stands in one part whole, so a text may need a part more than its length
//! alone would.

use std::iter;

use serde::{Deserialize, Serialize};

/// The alphabet that a text travels in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Encoding {
    /// The default alphabet and its extension table. Every letter of the text is in them.
    #[serde(rename = "GSM-7")]
    Gsm7,
    /// UTF-16, as phones read what was meant as UCS-2. One letter outside the alphabet is enough.
    #[serde(rename = "UCS-2")]
    Ucs2,
}

impl Encoding {
    /// What `text` travels in.
    fn of(text: &str) -> Self {
        if text.chars().all(|letter| septets(letter).is_some()) {
            Self::Gsm7
        } else {
            Self::Ucs2
        }
    }

    /// The room of a message in one part, and of each part of a longer one.
    const fn room(self) -> (usize, usize) {
        match self {
            Self::Gsm7 => (160, 153),
            Self::Ucs2 => (70, 67),
        }
    }

    /// What `letter` takes of it.
    fn taken(self, letter: char) -> usize {
        match self {
            Self::Gsm7 => septets(letter).unwrap_or_default(),
            Self::Ucs2 => letter.len_utf16(),
        }
    }
}

/// How a text travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Measured {
    /// In which alphabet.
    pub encoding: Encoding,
    /// In how many parts; an empty text is a message too.
    pub segments: u32,
}

/// How `text` travels.
pub fn measure(text: &str) -> Measured {
    let encoding = Encoding::of(text);
    Measured {
        encoding,
        segments: cut(text, encoding).map(|_| 1).sum(),
    }
}

/// The parts of `text`, in their order: as many as [`measure`] says, and together the text.
pub fn parts(text: &str) -> Vec<&str> {
    cut(text, Encoding::of(text)).collect()
}

fn cut(text: &str, encoding: Encoding) -> impl Iterator<Item = &str> {
    let (single, each) = encoding.room();
    let length: usize = text.chars().map(|letter| encoding.taken(letter)).sum();
    let room = if length <= single { single } else { each };
    let mut rest = Some(text);
    iter::from_fn(move || {
        let text = rest?;
        let mut taken = 0;
        let beyond = text.char_indices().find(|&(_, letter)| {
            taken += encoding.taken(letter);
            taken > room
        });
        let (part, left) =
            beyond.map_or((text, None), |(end, _)| (&text[..end], Some(&text[end..])));
        rest = left;
        Some(part)
    })
}

/// The septets of `letter`: one in the default alphabet, two in the extension table (an escape comes
/// first), none where it is in neither. The escape itself writes nothing.
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
