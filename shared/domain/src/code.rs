//! One-time codes: what is sent to prove a mailbox, a phone, or that somebody asked.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Instant, UserId};

/// What a code is good for. One code of each kind is good for an account at any time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum CodeKind {
    /// Proving the mailbox.
    Email,
    /// Proving the phone.
    Phone,
    /// Setting a new password.
    Reset,
    /// Signing in without a password.
    Passwordless,
}

impl CodeKind {
    /// The word that stands in keys.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Email => "EMAIL",
            Self::Phone => "PHONE",
            Self::Reset => "RESET",
            Self::Passwordless => "PASSWORDLESS",
        }
    }
}

/// Codes are good for this long.
pub const LIFE: Duration = Duration::from_secs(600);
/// Wrong tries after which a code is dead for one network; the owner elsewhere still gets in.
pub const TRIES_PER_NETWORK: u32 = 5;
/// Wrong tries after which a code is dead for all.
pub const TRIES: u32 = 20;

/// A code that was sent. It is kept as two HMACs, of the six digits and of the link's long code:
/// using either uses both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Code {
    /// Whose.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// What for.
    pub kind: CodeKind,
    /// HMAC of the six digits.
    pub digits: String,
    /// HMAC of the long code.
    pub link: String,
    /// Until when.
    pub expires_at: Instant,
}
