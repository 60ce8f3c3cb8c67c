//! One line of the list of a person's sign-ins.

use serde::{Deserialize, Serialize};

use crate::{UserId, agent::Agent, instant::Instant};

/// A completed sign-in. The place of the caller is known only when the content network in front
/// of the service says it; else those fields are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginActivity {
    /// Unix microseconds of the sign-in, moved up by one while another has the same.
    #[serde(rename = "loginActivityID")]
    pub login_activity_id: u64,
    /// Whose sign-in.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The caller's address.
    pub ip: String,
    /// Where the caller was.
    #[serde(flatten)]
    pub place: Location,
    /// What the caller signed in with.
    #[serde(flatten)]
    pub agent: Agent,
    /// When.
    pub created_at: Instant,
}

/// Where a caller is, as far as somebody knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Two letters. Nobody says it today.
    pub continent: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
    /// The country's name.
    pub country: Option<String>,
    /// The city's name.
    pub city: Option<String>,
    /// The region's name.
    pub region: Option<String>,
    /// The network's owner. Nobody says it today.
    pub isp: Option<String>,
    /// Degrees north.
    pub lat: Option<f64>,
    /// Degrees east.
    pub lon: Option<f64>,
}

impl LoginActivity {
    /// The sign-in of `user_id` at `now` from `ip` in `place`.
    pub fn new(user_id: UserId, ip: String, place: Location, agent: Agent, now: Instant) -> Self {
        Self {
            login_activity_id: u64::try_from(now.unix_milliseconds()).unwrap_or(0) * 1000,
            user_id,
            ip,
            place,
            agent,
            created_at: now,
        }
    }
}
