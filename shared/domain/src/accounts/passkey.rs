//! Passkeys: WebAuthn credentials with which their owner signs in without a password
//! (<https://www.w3.org/TR/webauthn-3/>).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Instant, Line, PasskeyId, UserId, user::User};

/// How many passkeys an account may have.
pub const MAX: u32 = 20;

/// How long a challenge is valid.
pub const CHALLENGE_LIFE: Duration = Duration::from_secs(5 * 60);

/// The public part of a credential, as registration verified it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    /// The identifier that the authenticator chose, in base64url.
    pub credential_id: String,
    /// The public key: a COSE key (RFC 9052 §7) in base64.
    pub public_key: String,
    /// The signature counter of the last sign-in; 0 if the authenticator has none.
    pub sign_count: u32,
    /// Whether it was copied to other devices when it last signed in.
    pub is_backed_up: bool,
    /// How the authenticator can be reached, such as `internal` or `usb`: a hint for browsers.
    pub transports: Vec<String>,
}

/// A passkey as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Passkey {
    /// The passkey's identifier.
    #[serde(rename = "passkeyID")]
    pub passkey_id: PasskeyId,
    /// The account, which is also the user handle of the credential.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The owner's name for it.
    pub name: Line<64>,
    /// When it was registered.
    pub created_at: Instant,
    /// When it last signed in.
    pub last_used_at: Option<Instant>,
    /// The account's [`passkey_series`](User::passkey_series) at that time; in another one the passkey is removed.
    pub series: u64,
    /// The credential.
    #[serde(flatten)]
    pub credential: Credential,
}

impl Passkey {
    /// Whether the passkey belongs to `user` and is not removed.
    pub fn is_of(&self, user: &User) -> bool {
        self.user_id == user.user_id && self.series == user.passkey_series
    }
}

/// A passkey in API responses and exports, without its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PasskeyView {
    #[serde(rename = "passkeyID")]
    passkey_id: PasskeyId,
    name: Line<64>,
    created_at: Instant,
    last_used_at: Option<Instant>,
    backed_up: bool,
    transports: Vec<String>,
}

impl From<Passkey> for PasskeyView {
    fn from(passkey: Passkey) -> Self {
        let Passkey { passkey_id, name, created_at, last_used_at, credential, .. } = passkey;
        let Credential { is_backed_up: backed_up, transports, .. } = credential;
        Self { passkey_id, name, created_at, last_used_at, backed_up, transports }
    }
}

/// What is kept of a challenge until its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// The challenge in base64url.
    pub ceremony: String,
    /// The epoch of the account that registers a passkey; 0 for a sign-in.
    pub epoch: u64,
    /// First moment at which it is no longer valid.
    pub expires_at: Instant,
}

impl Challenge {
    /// The challenge of `ceremony`, issued at `now`.
    pub fn new(ceremony: String, epoch: u64, now: Instant) -> Self {
        Self { ceremony, epoch, expires_at: now.after(CHALLENGE_LIFE) }
    }

    /// Whether the challenge is valid at `now` for an account with `epoch`.
    pub fn is_valid(&self, epoch: u64, now: Instant) -> bool {
        self.epoch == epoch && now < self.expires_at
    }
}
