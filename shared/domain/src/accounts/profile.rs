//! Account profiles, from which the default rights follow.

use std::fmt;

use crate::choice::choice;

choice! {
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
