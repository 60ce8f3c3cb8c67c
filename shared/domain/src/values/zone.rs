//! Time zones.

use std::str::FromStr;

use jiff::{civil::DateTime, tz::TimeZone};

use crate::Instant;

/// A time zone of the IANA database, with its name.
#[derive(Debug, Clone)]
pub struct Zone {
    zone: TimeZone,
    name: String,
}

impl FromStr for Zone {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, &'static str> {
        let zone = TimeZone::get(name);
        let zone = zone.map_err(|_| "must be the name of a time zone, such as Africa/Tunis")?;
        Ok(Self { zone, name: name.to_owned() })
    }
}

impl Zone {
    /// Its name, such as `Africa/Tunis`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Date and time there at the instant `at`.
    pub fn local(&self, at: Instant) -> DateTime {
        at.timestamp().to_zoned(self.zone.clone()).datetime()
    }

    /// The first instant of the day there that contains `at`.
    pub fn day_start(&self, at: Instant) -> Instant {
        let start = at.timestamp().to_zoned(self.zone.clone()).start_of_day();
        start
            .map_or(at, |start| Instant::from_unix_milliseconds(start.timestamp().as_millisecond()))
    }
}
