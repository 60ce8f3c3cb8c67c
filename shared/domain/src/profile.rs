//! What a person is in the federation.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ValueError;

/// The four profiles, from the one that may least to the one that may most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Profile {
    /// A member of a committee.
    #[serde(rename = "MB")]
    Member,
    /// Someone who gives courses.
    #[serde(rename = "TR")]
    Trainer,
    /// Someone who runs a committee.
    #[serde(rename = "CA")]
    CommitteeAdmin,
    /// Someone who runs the service.
    #[serde(rename = "SA")]
    SuperAdmin,
}

impl Profile {
    /// All four, lowest first.
    pub const ALL: [Self; 4] = [
        Self::Member,
        Self::Trainer,
        Self::CommitteeAdmin,
        Self::SuperAdmin,
    ];

    /// `MB`, `TR`, `CA` or `SA`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Member => "MB",
            Self::Trainer => "TR",
            Self::CommitteeAdmin => "CA",
            Self::SuperAdmin => "SA",
        }
    }

    /// Whether this profile runs something, and so lives under stricter rules: longer passwords,
    /// shorter sessions.
    pub const fn is_admin(self) -> bool {
        matches!(self, Self::CommitteeAdmin | Self::SuperAdmin)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.code())
    }
}

impl FromStr for Profile {
    type Err = ValueError;

    /// `Required` for nothing, `Value` for a code that is none of the four.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let missing = if text.is_empty() {
            ValueError::Required
        } else {
            ValueError::Value
        };
        Self::ALL
            .into_iter()
            .find(|profile| profile.code() == text)
            .ok_or(missing)
    }
}
