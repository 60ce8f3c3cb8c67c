//! Constraints on field values, as data for error responses (`min`, `max`, `allowed`, `format`).

use crate::{
    CommitteeId, E164, Email, Grant, Instant, Line, Price, Profile, Prose, ShortCode,
    code::SendMethod,
    course::{self, CourseType, Currency, Language},
    file::{ContentType, FileName, Visibility},
    password,
    question::QuestionType,
    sms::{self, SenderId},
    subdomain::{Label, RootDomain},
};

/// The constraint that a valid value fulfils. Each part may be absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constraint {
    /// The smallest number, or the smallest length.
    pub min: Option<f64>,
    /// The largest number, or the largest length.
    pub max: Option<f64>,
    /// What `min` and `max` count.
    pub unit: Unit,
    /// All valid values; empty if they cannot be listed.
    pub allowed: Vec<String>,
    /// The name of the format, such as `email` or `date-time`.
    pub format: Option<&'static str>,
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
}

impl Constraint {
    /// A length of `min` to `max`, counted in `unit`.
    pub fn length(min: usize, max: usize, unit: Unit) -> Self {
        Self {
            unit,
            ..Self::range(min as f64, max as f64)
        }
    }

    /// A number of `min` to `max`.
    pub fn range(min: f64, max: f64) -> Self {
        Self {
            min: Some(min),
            max: Some(max),
            ..Self::default()
        }
    }

    /// One of the values `allowed`.
    pub fn allowed(allowed: impl IntoIterator<Item = impl ToString>) -> Self {
        Self {
            allowed: allowed.into_iter().map(|value| value.to_string()).collect(),
            ..Self::default()
        }
    }

    /// A value of the format `format`.
    pub fn format(format: &'static str) -> Self {
        Self {
            format: Some(format),
            ..Self::default()
        }
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

macro_rules! constrained {
    ($($type:ty => $constraint:expr;)*) => {$(
        impl Constrained for $type {
            fn constraint() -> Constraint {
                $constraint
            }
        }
    )*};
}

constrained! {
    CommitteeId => Constraint::format("uuid");
    ContentType => Constraint::allowed(Self::ALL.iter().map(|value| value.code()));
    CourseType => Constraint::allowed(Self::ALL.iter().map(|value| value.code()));
    Currency => Constraint::format("currency");
    E164 => Constraint::format("e164");
    Email => Constraint {
        max: Some(254.0),
        unit: Unit::Characters,
        ..Constraint::format("email")
    };
    FileName => Constraint::length(1, 255, Unit::Characters);
    Grant => Constraint::allowed(Self::ALL.iter().map(|value| value.code()));
    Instant => Constraint::format("date-time");
    Label => Constraint::length(1, 63, Unit::Characters);
    Language => Constraint::format("language");
    Price => Constraint::range(0.0, 9_999_999_999.99);
    Profile => Constraint::allowed(["SA", "CA", "TR", "MB"]);
    QuestionType => Constraint::allowed(Self::ALL.iter().map(|value| value.code()));
    RootDomain => Constraint {
        max: Some(253.0),
        unit: Unit::Characters,
        ..Constraint::format("domain")
    };
    SendMethod => Constraint::allowed(["email", "sms"]);
    SenderId => Constraint::length(1, 11, Unit::Characters);
    ShortCode => Constraint::length(1, 10, Unit::Characters);
    Visibility => Constraint::allowed(Self::ALL.iter().map(|value| value.code()));
    bool => Constraint::allowed([true, false]);
    course::State => Constraint::allowed(Self::ALL.iter().map(|value| value.code()));
    sms::Text => Constraint::length(1, sms::MAX_BYTES, Unit::Bytes);
    sms::Type => Constraint::allowed(Self::ALL.iter().map(|value| value.code()));
}

impl<const MAX: usize> Constrained for Line<MAX> {
    fn constraint() -> Constraint {
        Constraint::length(1, MAX, Unit::Characters)
    }
}

impl<const MAX: usize> Constrained for Prose<MAX> {
    fn constraint() -> Constraint {
        Constraint::length(1, MAX, Unit::Characters)
    }
}
