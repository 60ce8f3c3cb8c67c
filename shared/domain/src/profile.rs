//! Account profiles, from which the default rights follow.

use std::{fmt, str::FromStr};

use crate::{ValueError, choice::codes};

codes! {
    /// The four profiles, ordered from fewest to most rights.
    Profile {
        /// Member of a committee.
        Member "MB"
        /// Trainer: gives courses.
        Trainer "TR"
        /// Committee admin: administers one committee.
        CommitteeAdmin "CA"
        /// Super admin: administers the service.
        SuperAdmin "SA"
    }
}

impl Profile {
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
