//! Points in time.

use std::{fmt, str::FromStr, time::Duration};

use jiff::{
    SignedDuration, Span, Timestamp,
    civil::{Date, DateTime, Time, datetime},
    fmt::temporal::Pieces,
    tz::Offset,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::ValueError;

/// A point in time in UTC with millisecond precision, in the years 0001 to 9999. Written as `2026-11-20T23:46:12.000Z`, so
/// that text order is time order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

/// 0001-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z, in Unix milliseconds.
const BOUNDS: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

const EPOCH: DateTime = datetime(1970, 1, 1, 0, 0, 0, 0);

impl Instant {
    /// The last supported instant.
    pub const MAX: Self = Self(*BOUNDS.end());

    /// The instant `milliseconds` after 1970-01-01T00:00Z, clamped to the supported range.
    pub fn from_unix_milliseconds(milliseconds: i64) -> Self {
        Self(milliseconds.clamp(*BOUNDS.start(), *BOUNDS.end()))
    }

    /// Midnight UTC at the beginning of `date`.
    pub fn start_of(date: Date) -> Self {
        let time = date.to_datetime(Time::midnight()).duration_since(EPOCH);
        Self::from_unix_milliseconds(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
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

    /// The same time of day in UTC so many months later, on the last day of a month that has no such day; clamped likewise.
    pub fn after_months(self, months: u8) -> Self {
        let later = self.civil().saturating_add(Span::new().months(months));
        let time = later.duration_since(EPOCH).as_millis();
        Self::from_unix_milliseconds(i64::try_from(time).unwrap_or(i64::MAX))
    }

    /// This instant minus `duration`, clamped likewise.
    pub fn before(self, duration: Duration) -> Self {
        Self::from_unix_milliseconds(
            self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// The UTC date, such as `2026-11-20`.
    pub fn day(self) -> String {
        self.civil().strftime("%Y-%m-%d").to_string()
    }

    /// The UTC date as French writes it, such as `20/11/2026`.
    pub fn french_day(self) -> String {
        self.civil().strftime("%d/%m/%Y").to_string()
    }

    /// Date and time in UTC as calendars have it, to the second: `20261120T234612Z` (RFC 5545 §3.3.5).
    pub fn in_calendars(self) -> String {
        self.civil().strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    /// Date and time in UTC.
    fn civil(self) -> DateTime {
        EPOCH.saturating_add(SignedDuration::from_millis(self.0))
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

    /// This instant as a `jiff` timestamp, whose last one is 9999-12-30T22:00Z.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.civil().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").fmt(out)
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
        let pieces = Pieces::parse(text).map_err(|_| ValueError::Format)?;
        // An annotation such as `[Africa/Tunis]` is not ISO 8601, and `jiff` makes 59 of the second 60.
        if text.contains('[') || has_odd_seconds(text) {
            return Err(ValueError::Format);
        }
        let offset = match (pieces.time(), pieces.to_numeric_offset()) {
            (None, None) if text.len() == 10 => Offset::UTC,
            (Some(_), Some(offset)) if offset.seconds().abs() < 86_400 => offset,
            _ => return Err(ValueError::Format),
        };
        let local = pieces.date().to_datetime(pieces.time().unwrap_or_default());
        let seconds = i64::from(offset.seconds());
        let milliseconds = local.duration_since(EPOCH).as_nanos().div_euclid(1_000_000);
        let milliseconds =
            i64::try_from(milliseconds).map_err(|_| ValueError::Value)? - seconds * 1000;
        if BOUNDS.contains(&milliseconds) { Ok(Self(milliseconds)) } else { Err(ValueError::Value) }
    }
}

/// Whether the time in `text` has the second 60, or its offset has seconds, in the extended or the basic format.
fn has_odd_seconds(text: &str) -> bool {
    let time = text.split_once(['T', 't', ' ']).map(|(_, time)| time.replace(':', ""));
    time.is_some_and(|time| {
        let offset = time.rsplit_once(['+', '-']).map(|(_, offset)| offset);
        time.get(4..6) == Some("60") || offset.is_some_and(|offset| offset.len() > "hhmm".len())
    })
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
            ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
            ("9999-12-31T00:00:00+23:59", "9999-12-30T00:01:00.000Z"),
            ("2026-11-20T09:30Z", "2026-11-20T09:30:00.000Z"),
            ("2026-11-20T09:30+0100", "2026-11-20T08:30:00.000Z"),
            ("2026-11-20T09:30:10-01", "2026-11-20T10:30:10.000Z"),
        ] {
            let written = text.parse::<Instant>().map(|at| at.to_string());
            assert_eq!(written, Ok(form.to_owned()), "{text}");
        }
        for text in ["9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01", "0000-01-01"] {
            assert_eq!(text.parse::<Instant>(), Err(ValueError::Value), "{text}");
        }
        for text in [
            "2026-13-01",
            "2026-11-20T23:46:12Z[Africa/Tunis]",
            "yesterday",
            "2026-11-20T23:46:12",
            "20261120",
            "2026-11-20T23:59:60Z",
            "20261120T235960Z",
            "2026-11-20T23:46:12+24:00",
            "2026-11-20T23:46:12-25:59",
            "2026-11-20T23:46:12+01:00:30",
            "2026-11-20T23:46:12-01:00:00",
            "2026-11-20T23:46+010030",
            "2026-11-20Z",
        ] {
            assert_eq!(text.parse::<Instant>(), Err(ValueError::Format), "{text}");
        }
    }
}
