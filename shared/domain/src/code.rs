//! One-time codes: what is sent to prove a mailbox, a phone, or that somebody asked.

use std::{collections::BTreeMap, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{CommitteeId, Instant, UserId, ValueError};

/// What a code is good for. One code of each kind is good for an address, or for a person's phone,
/// at any time.
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
    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Email => "EMAIL",
            Self::Phone => "PHONE",
            Self::Reset => "RESET",
            Self::Passwordless => "PASSWORDLESS",
        }
    }
}

/// The way that somebody wants a code to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendMethod {
    /// `email`
    Email,
    /// `sms`: to a number that was proved; otherwise by mail all the same.
    Sms,
}

impl FromStr for SendMethod {
    type Err = ValueError;

    /// `Required` for nothing, `SendMethod` for another text.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text {
            "" => Err(ValueError::Required),
            "email" => Ok(Self::Email),
            "sms" => Ok(Self::Sms),
            _ => Err(ValueError::SendMethod),
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
    /// Whose; an identifier that nobody has when it was sent to nobody.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// His committee when it was sent: a hint of what to read beside him.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// HMAC of the six digits.
    pub digits: String,
    /// HMAC of the link's long code.
    pub link: String,
    /// Whether it went by mail, so that it proves the mailbox.
    pub by_mail: bool,
    /// Until when.
    pub expires_at: Instant,
    /// Wrong tries so far.
    pub tries: u32,
    /// The same by network.
    pub networks: BTreeMap<String, u32>,
}

impl Code {
    /// Whether it still works for `network` at `now`: neither out of time nor tried too often.
    pub fn is_alive(&self, network: &str, now: Instant) -> bool {
        let tries_here = self.networks.get(network).copied().unwrap_or_default();
        now < self.expires_at && self.tries < TRIES && tries_here < TRIES_PER_NETWORK
    }
}
