//! Random codes that people read aloud and type.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ValueError;

/// `LENGTH` random letters of Crockford's base 32, in which no two look alike (<https://www.crockford.com/base32.html>).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Crockford<const LENGTH: usize>(String);

const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

impl<const LENGTH: usize> Crockford<LENGTH> {
    /// A code with five bits of each of the `random` bytes.
    pub fn new(random: [u8; LENGTH]) -> Self {
        let letter = |byte: u8| char::from(LETTERS[usize::from(byte % 32)]);
        Self(random.map(letter).iter().collect())
    }

    /// The code as people read it: with hyphens between groups of four letters, or of five if four do not divide it.
    pub fn grouped(&self) -> String {
        let size = if LENGTH.is_multiple_of(4) { 4 } else { 5 };
        let starts = (0..LENGTH).step_by(size);
        let groups: Vec<&str> =
            starts.filter_map(|start| self.0.get(start..LENGTH.min(start + size))).collect();
        groups.join("-")
    }
}

impl<const LENGTH: usize> FromStr for Crockford<LENGTH> {
    type Err = ValueError;

    /// Accepts either case, spaces and hyphens anywhere, `O` as 0 and `I` or `L` as 1. `Format` for anything else.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let letters = text.chars().filter(|letter| ![' ', '-'].contains(letter));
        let letters: String = letters
            .map(|letter| match letter.to_ascii_uppercase() {
                'O' => '0',
                'I' | 'L' => '1',
                letter => letter,
            })
            .collect();
        let is_code =
            letters.len() == LENGTH && letters.bytes().all(|byte| LETTERS.contains(&byte));
        if is_code { Ok(Self(letters)) } else { Err(ValueError::Format) }
    }
}

impl<const LENGTH: usize> fmt::Display for Crockford<LENGTH> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_read_however_it_was_typed() {
        let code = Crockford::<10>::new([0, 1, 18, 31, 32, 33, 50, 63, 64, 255]);
        assert_eq!(code.to_string(), "01JZ01JZ0Z");
        assert_eq!(code.grouped(), "01JZ0-1JZ0Z");
        for text in ["01JZ01JZ0Z", "oljz-OI jz0z", " 0 1JZ01JZ-OZ "] {
            assert_eq!(text.parse(), Ok(code.clone()), "{text}");
        }
        for text in ["", "01JZ01JZ0", "01JZ01JZ0Z0", "01JZ01JZ0U", "01JZ01JZ0é", "٠1JZ01JZ0Z"] {
            assert_eq!(text.parse::<Crockford<10>>(), Err(ValueError::Format), "{text}");
        }
    }
}
