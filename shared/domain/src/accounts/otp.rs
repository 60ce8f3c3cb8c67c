//! Time-based one-time passwords (TOTP, RFC 6238) of an account: the active secret and a pending enrolment.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Instant, SessionId, session::Session};

/// How long an enrolment can be confirmed.
pub const ENROLMENT_LIFE: Duration = Duration::from_secs(600);
/// Wrong codes after which an enrolment is invalid.
pub const ENROLMENT_TRIES: u32 = 5;

/// An account's active TOTP secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Otp {
    /// The encrypted secret.
    pub sealed: String,
    /// The time step of the last accepted code. Codes of this or an earlier step are rejected.
    pub last_step: u64,
    /// HMACs of the unused recovery codes. A map, so that an update expression can remove one by name.
    pub recovery: BTreeMap<String, bool>,
}

/// A TOTP secret that was shown in one session of its owner but not yet confirmed with a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Enrolment {
    /// The encrypted secret.
    pub sealed: String,
    /// First moment at which it can no longer be confirmed.
    pub expires_at: Instant,
    /// Wrong codes entered so far.
    pub tries: u32,
    /// The session that began it.
    #[serde(rename = "sid")]
    pub session_id: SessionId,
    /// The epoch of that session when it began.
    pub epoch: u64,
}

impl Enrolment {
    /// Whether it can be confirmed in `session` at `now`: `session` began it and has not changed since, it has not
    /// expired, and had fewer than [`ENROLMENT_TRIES`] wrong codes.
    pub fn is_valid(&self, session: &Session, now: Instant) -> bool {
        self.session_id == session.sid
            && self.epoch == session.epoch
            && now < self.expires_at
            && self.tries < ENROLMENT_TRIES
    }
}

/// The accepted second factor of a sign-in, which the caller must mark as used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// The TOTP code of this time step.
    Step(u64),
    /// The recovery code with this HMAC.
    Recovery(String),
}
