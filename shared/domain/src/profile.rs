//! Account profiles, from which the default rights follow.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::ValueError;

/// The four profiles, ordered from fewest to most rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Profile {
    /// Member of a committee.
    #[serde(rename = "MB")]
    Member,
    /// Trainer: gives courses.
    #[serde(rename = "TR")]
    Trainer,
    /// Committee admin: administers one committee.
    #[serde(rename = "CA")]
    CommitteeAdmin,
    /// Super admin: administers the service.
    #[serde(rename = "SA")]
    SuperAdmin,
}

impl Profile {
    /// All profiles, lowest first.
    pub const ALL: [Self; 4] =
        [Self::Member, Self::Trainer, Self::CommitteeAdmin, Self::SuperAdmin];

    /// `MB`, `TR`, `CA` or `SA`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Member => "MB",
            Self::Trainer => "TR",
            Self::CommitteeAdmin => "CA",
            Self::SuperAdmin => "SA",
        }
    }

    /// Whether stricter rules apply: longer passwords, shorter sessions.
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

    /// `Required` for an empty text, `Value` for any other text that is not a profile's code.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let error = if text.is_empty() { ValueError::Required } else { ValueError::Value };
        Self::ALL.into_iter().find(|profile| profile.code() == text).ok_or(error)
    }
}
