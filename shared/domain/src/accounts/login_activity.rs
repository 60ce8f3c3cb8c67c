//! Entries of an account's sign-in history.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{UserId, agent::Agent, amr::Method, instant::Instant};

/// How long a sign-in is kept.
pub const RETENTION: Duration = Duration::from_secs(180 * 86_400);

/// A completed sign-in. The location is only known if CloudFront adds it to the request; otherwise its fields are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoginActivity {
    /// Unix microseconds of the sign-in, raised by one until it is unique.
    #[serde(rename = "loginActivityID")]
    pub login_activity_id: u64,
    /// The account that signed in.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// The client's IP address.
    pub ip: String,
    /// The client's location.
    #[serde(flatten)]
    pub place: Location,
    /// The client's browser and device.
    #[serde(flatten)]
    pub agent: Agent,
    /// Time of the sign-in.
    pub created_at: Instant,
    /// How the person signed in; left out where it is cleared, as in the own account, whose fields are fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<Method>,
}

/// A client's location, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Two letters; always null today.
    pub continent: Option<String>,
    /// ISO 3166-1 alpha-2 country code.
    pub country_code: Option<String>,
    /// Name of the country.
    pub country: Option<String>,
    /// Name of the city.
    pub city: Option<String>,
    /// Name of the region.
    pub region: Option<String>,
    /// Name of the internet provider; always null today.
    pub isp: Option<String>,
    /// Latitude in degrees.
    pub lat: Option<f64>,
    /// Longitude in degrees.
    pub lon: Option<f64>,
}

impl LoginActivity {
    /// A sign-in at `now`, which also determines its identifier.
    pub fn new(
        user_id: UserId,
        ip: String,
        place: Location,
        agent: Agent,
        amr: Vec<Method>,
        now: Instant,
    ) -> Self {
        let login_activity_id = u64::try_from(now.unix_milliseconds()).unwrap_or(0) * 1000;
        Self { login_activity_id, user_id, ip, place, agent, created_at: now, amr }
    }
}
