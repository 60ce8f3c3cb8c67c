//! Constraints on field values, as data for error responses (`min`, `max`, `decimals`, `allowed`, `format`).

use crate::{Instant, password};

/// Most code points of all valid values together: a response can have a hundred errors, and each lists them twice.
const MAX_ALLOWED: usize = 1000;

/// The constraint that a valid value fulfils. Each part may be absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constraint {
    /// The smallest number, or the smallest length.
    pub min: Option<f64>,
    /// The largest number, or the largest length.
    pub max: Option<f64>,
    /// What `min` and `max` count.
    pub unit: Unit,
    /// The earliest and the latest date, or date and time.
    pub earliest: Option<Instant>,
    /// See [`earliest`](Self::earliest).
    pub latest: Option<Instant>,
    /// Most decimals of a number; zero for whole numbers.
    pub decimals: Option<u8>,
    /// All valid values; empty if they cannot be listed, or not in 1,000 code points.
    pub allowed: Vec<String>,
    /// The name of the format, such as `email` or `date-time`.
    pub format: Option<&'static str>,
    /// What the text of the error explains, where bounds and formats do not say it.
    pub hint: Option<Hint>,
}

/// What is special about the values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// A calling code is written without `+`.
    CallingCode,
    /// An end is not before its start.
    End,
    /// A session of a course has a shortest and a longest time.
    SessionEnd,
    /// A person consents by the value `true`.
    Consent,
    /// A name of a file has no slash.
    FileName,
    /// The length counts in the ASCII form of a label.
    AsciiForm,
    /// No option is chosen twice.
    Distinct,
}

/// What the bounds of a [`Constraint`] count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// The value itself.
    #[default]
    Number,
    /// Unicode code points.
    Characters,
    /// Bytes of UTF-8.
    Bytes,
    /// Elements of a list.
    Elements,
    /// Words of a search.
    Words,
}

impl Constraint {
    /// A length of `min` to `max`, counted in `unit`.
    pub fn length(min: usize, max: usize, unit: Unit) -> Self {
        Self { unit, ..Self::range(min as f64, max as f64) }
    }

    /// A number of `min` to `max`.
    pub fn range(min: f64, max: f64) -> Self {
        Self { min: Some(min), max: Some(max), ..Self::default() }
    }

    /// A whole number of `min` to `max`.
    pub fn whole(min: u32, max: u32) -> Self {
        Self { decimals: Some(0), ..Self::range(min.into(), max.into()) }
    }

    /// The time of an end that is not before `start`.
    pub fn end_of(start: Instant) -> Self {
        Self { earliest: Some(start), hint: Some(Hint::End), ..Instant::constraint() }
    }

    /// One of the values `allowed`, which are not listed if they have more than 1,000 code points.
    pub fn allowed(allowed: impl IntoIterator<Item = impl ToString>) -> Self {
        let mut allowed: Vec<String> = allowed.into_iter().map(|value| value.to_string()).collect();
        if allowed.join(", ").chars().count() > MAX_ALLOWED {
            allowed.clear();
        }
        Self { allowed, ..Self::default() }
    }

    /// A value of the format `format`.
    pub fn format(format: &'static str) -> Self {
        Self { format: Some(format), ..Self::default() }
    }

    /// A password of at least `min_length` code points.
    pub fn password(min_length: u64) -> Self {
        let min = usize::try_from(min_length).unwrap_or(usize::MAX);
        Self::length(min, password::MAX_LENGTH, Unit::Characters)
    }
}

/// A type whose values have a [`Constraint`] that is known without the value.
pub trait Constrained {
    /// The constraint.
    fn constraint() -> Constraint;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_up_to_1000_characters() {
        let listed =
            |length: usize| Constraint::allowed(["é".repeat(length), "a".to_owned()]).allowed;
        assert_eq!((listed(997).len(), listed(998).len()), (2, 0));
    }
}
