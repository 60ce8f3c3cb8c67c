//! Points in time.

use std::{fmt, str::FromStr, time::Duration};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::ValueError;

/// A point in time in UTC with millisecond precision, from the year 0001 to 9999-12-30T22:00Z, the upper limit of
/// `jiff`. Written as `2026-11-20T23:46:12.000Z`, so that text order is time order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// 0001-01-01T00:00:00.000Z and the last instant of `jiff`, in Unix milliseconds.
const BOUNDS: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_207_200_999;

impl Instant {
    /// The last supported instant.
    pub const MAX: Self = Self(*BOUNDS.end());

    /// The instant `milliseconds` after 1970-01-01T00:00Z, clamped to the supported range.
    pub fn from_unix_milliseconds(milliseconds: i64) -> Self {
        Self(milliseconds.clamp(*BOUNDS.start(), *BOUNDS.end()))
    }

    /// Unix milliseconds.
    pub const fn unix_milliseconds(self) -> i64 {
        self.0
    }

    /// Unix seconds, rounded down: the unit of token claims and DynamoDB TTL.
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This instant plus `duration`, clamped to the supported range.
    pub fn after(self, duration: Duration) -> Self {
        Self::from_unix_milliseconds(
            self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// This instant minus `duration`, clamped likewise.
    pub fn before(self, duration: Duration) -> Self {
        Self::from_unix_milliseconds(
            self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// The UTC date, such as `2026-11-20`.
    pub fn day(self) -> String {
        self.timestamp().strftime("%Y-%m-%d").to_string()
    }

    /// The start of the next UTC day.
    pub fn end_of_day(self) -> Self {
        const DAY: i64 = 86_400_000;
        Self::from_unix_milliseconds((self.0.div_euclid(DAY) + 1) * DAY)
    }

    /// The time from `earlier` to this instant; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// This instant as a `jiff` timestamp.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timestamp().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").fmt(out)
    }
}

impl FromStr for Instant {
    type Err = ValueError;

    /// Accepts an ISO 8601 date and time with offset, truncated to milliseconds, or a date alone, which means midnight
    /// UTC. `Required` for an empty text, `Value` outside the supported range, `Format` for anything else.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ValueError::Required);
        }
        let date = text.parse::<Date>().ok().filter(|_| text.len() == 10);
        let timestamp = match date {
            Some(date) => date.to_zoned(TimeZone::UTC).map_err(|_| ValueError::Value)?.timestamp(),
            // `jiff` also parses annotations such as `[Africa/Tunis]`, which are not ISO 8601.
            None => text
                .parse::<Timestamp>()
                .ok()
                .filter(|_| !text.contains('['))
                .ok_or(ValueError::Format)?,
        };
        let milliseconds = timestamp.as_millisecond();
        if BOUNDS.contains(&milliseconds) { Ok(Self(milliseconds)) } else { Err(ValueError::Value) }
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(|_| D::Error::custom("expected an ISO 8601 instant"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_is_written_in_utc_milliseconds() {
        for (text, form) in [
            ("2026-11-20T23:46:12Z", "2026-11-20T23:46:12.000Z"),
            ("2026-11-20T23:46:12.98765+01:00", "2026-11-20T22:46:12.987Z"),
            (" 1956-03-20 ", "1956-03-20T00:00:00.000Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
            ("9999-12-30", "9999-12-30T00:00:00.000Z"),
        ] {
            let written = text.parse::<Instant>().map(|at| at.to_string());
            assert_eq!(written, Ok(form.to_owned()), "{text}");
        }
        assert_eq!("9999-12-31".parse::<Instant>(), Err(ValueError::Value));
        for text in [
            "2026-13-01",
            "2026-11-20T23:46:12Z[Africa/Tunis]",
            "yesterday",
            "2026-11-20T23:46:12",
            "20261120",
        ] {
            assert_eq!(text.parse::<Instant>(), Err(ValueError::Format), "{text}");
        }
    }
}
