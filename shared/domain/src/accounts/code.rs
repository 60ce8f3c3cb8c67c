//! One-time codes that verify a mailbox or a phone number, reset a password or sign in.

use std::{collections::BTreeMap, fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{CommitteeId, Instant, Line, UserId, ValueError, choice::codes, text::as_str};

codes! {
    /// What a code is used for. An e-mail address, or an account's phone number, has at most one valid code of each
    /// kind.
    CodeKind {
        /// Verifying the mailbox.
        Email "EMAIL"
        /// Verifying the phone number.
        Phone "PHONE"
        /// Setting a new password.
        Reset "RESET"
        /// Signing in without a password.
        Passwordless "PASSWORDLESS"
    }
}

/// What a code is stored under: a hash of an e-mail address, or of an account and the address or number that it wants to
/// verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge(pub Uuid);

/// Which code: of each kind there is at most one for a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeId {
    /// What it is used for.
    pub kind: CodeKind,
    /// What it is stored under.
    pub challenge: Challenge,
}

impl fmt::Display for Challenge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// How a client asks for a code to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendMethod {
    /// `email`
    Email,
    /// `sms`: by text message if the phone number is verified, else by mail.
    Sms,
}

impl FromStr for SendMethod {
    type Err = ValueError;

    /// `Required` for an empty text, `SendMethod` for anything but `email` and `sms`.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text {
            "" => Err(ValueError::Required),
            "email" => Ok(Self::Email),
            "sms" => Ok(Self::Sms),
            _ => Err(ValueError::SendMethod),
        }
    }
}

/// How long a code is valid.
pub const LIFE: Duration = Duration::from_secs(600);
/// Wrong attempts after which the six digits are refused to the network they came from. Their owner can still use them
/// elsewhere, and the link everywhere. All networks together have those of the account
/// ([`limits::DIGITS`](crate::limits::DIGITS)).
pub const MAX_TRIES_PER_NETWORK: u32 = 5;

/// A code that was sent, stored as two HMACs: one of the six digits, one of the link's long code. Using either form
/// uses up both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Code {
    /// The account; an unused identifier if no account has the address.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The account's committee when the code was sent: a hint of which committee to load with the account.
    #[serde(rename = "committeeID")]
    pub committee_id: CommitteeId,
    /// The account's epoch when the code was sent.
    pub epoch: u64,
    /// The challenge of the verified number to which the code was texted; `None` for mails, and for codes that verify a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<Uuid>,
    /// HMAC of the six digits.
    pub digits: String,
    /// HMAC of the link's long code.
    pub link: String,
    /// Whether the code was sent by mail, so that using it verifies the mailbox.
    pub by_mail: bool,
    /// First moment at which the code is no longer valid.
    pub expires_at: Instant,
    /// Wrong attempts by network.
    pub networks: BTreeMap<String, u32>,
}

/// A sent code as a person types it: six digits, with or without spaces and hyphens between them, or the code of a link.
/// At most 128 code points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedCode(String);

impl FromStr for TypedCode {
    type Err = ValueError;

    /// As [`Line`].
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let line: Line<128> = text.parse()?;
        let is_separator =
            |letter: char| letter.is_whitespace() || matches!(letter, '-' | '‐'..='―');
        let digits = line.as_str().replace(is_separator, "");
        let is_digits = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
        Ok(Self(if is_digits { digits } else { line.to_string() }))
    }
}

as_str!(TypedCode);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_digits_are_read_without_separators_and_links_unchanged() {
        for (typed, code) in [
            ("123456", "123456"),
            (" 123 456 ", "123456"),
            ("123\u{a0}456", "123456"),
            ("12-34‑56", "123456"),
            ("1234 567", "1234 567"),
            ("ab-cd", "ab-cd"),
        ] {
            assert_eq!(typed.parse::<TypedCode>().unwrap().as_str(), code);
        }
    }
}
