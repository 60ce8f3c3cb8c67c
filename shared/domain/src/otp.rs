//! One-time passwords of a person (RFC 6238): the secret in force, and one that is being tried out.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::Instant;

/// A secret that was shown may be proved for this long.
pub const ENROLMENT_LIFE: Duration = Duration::from_secs(600);
/// Wrong codes after which it is dead.
pub const ENROLMENT_TRIES: u32 = 5;

/// The secret in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Otp {
    /// The secret, sealed.
    pub sealed: String,
    /// The last step whose code was taken: neither it nor an older one is ever taken again.
    pub last_step: u64,
    /// HMACs of the recovery codes that are left. A map, so that one can be taken out by its name.
    pub recovery: BTreeMap<String, bool>,
}

/// A secret that was shown and has not been proved yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Enrolment {
    /// The secret, sealed.
    pub sealed: String,
    /// Until when it may be proved.
    pub expires_at: Instant,
    /// Wrong codes so far.
    pub tries: u32,
}

impl Enrolment {
    /// Whether it may still be proved at `now`.
    pub fn is_alive(&self, now: Instant) -> bool {
        now < self.expires_at && self.tries < ENROLMENT_TRIES
    }
}

/// What proves a person in the one-time password step, to be used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// The code of this step.
    Step(u64),
    /// The recovery code with this HMAC.
    Recovery(String),
}
