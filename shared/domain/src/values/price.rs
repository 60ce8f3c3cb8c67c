//! Prices, parsed without rounding.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::ValueError;

/// A price from 0 to 9,999,999,999.999 with at most three decimals, as many as any national currency has; the currency is
/// a field of its own. Serialised as a JSON number: `250`, `19.9`, `19.995`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(u64);

/// Most decimals that a national currency has.
pub(crate) const DECIMALS: u8 = 3;
/// Highest price, in thousandths.
pub(crate) const MAX: u64 = 9_999_999_999_999;

impl FromStr for Price {
    type Err = ValueError;

    /// Parses the literal of a JSON number without converting it to floating point. `Type` if it is not a number,
    /// `Format` for more than three decimals, `Value` below zero or above the maximum.
    fn from_str(literal: &str) -> Result<Self, ValueError> {
        let (is_negative, thousandths) = scaled(literal, DECIMALS)?;
        if thousandths > MAX || is_negative && thousandths > 0 {
            return Err(ValueError::Value);
        }
        Ok(Self(thousandths))
    }
}

/// Whether the literal of a JSON number has a minus, and its absolute value times 10^`decimals`. `Type` if it is not a
/// number, `Format` for more decimals, `Value` for a number that is too large.
pub(crate) fn scaled(literal: &str, decimals: u8) -> Result<(bool, u64), ValueError> {
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (is_negative, mantissa) =
        mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ValueError::Type);
    }
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Ok((is_negative, 0));
    }
    // The power of ten of the last significant digit.
    let dropped = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
    let fraction = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let out_of_range =
        if exponent.starts_with('-') { ValueError::Format } else { ValueError::Value };
    let exponent: i64 = exponent.parse().map_err(|_| out_of_range)?;
    let power = exponent.saturating_add(dropped).saturating_sub(fraction);
    let power = u32::try_from(power.saturating_add(decimals.into()))
        .map_err(|_| if power < 0 { ValueError::Format } else { ValueError::Value })?;
    let factor = 10_u64.checked_pow(power).ok_or(ValueError::Value)?;
    let significant = significant.trim_start_matches('0').parse::<u64>();
    let scaled = significant.ok().and_then(|significant| significant.checked_mul(factor));
    Ok((is_negative, scaled.ok_or(ValueError::Value)?))
}

impl Price {
    /// Whether the price has at most `decimals` decimals.
    pub fn has_at_most(self, decimals: u8) -> bool {
        self.0.is_multiple_of(10_u64.pow(DECIMALS.saturating_sub(decimals).into()))
    }
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1000) {
            return serializer.serialize_u64(self.0 / 1000);
        }
        // A price has at most thirteen significant digits; an f64 round-trips fifteen.
        serializer.serialize_f64(self.0 as f64 / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer)?
            .to_string()
            .parse()
            .map_err(|_| D::Error::custom("invalid price"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_literal_is_parsed_exactly() {
        for (literal, price) in [
            ("0", Ok("0")),
            ("-0", Ok("0")),
            ("0.00", Ok("0")),
            ("19.90", Ok("19.9")),
            ("1.999e2", Ok("199.9")),
            ("1E+2", Ok("100")),
            ("1500e-2", Ok("15")),
            ("10.125", Ok("10.125")),
            ("9999999999.999", Ok("9999999999.999")),
            ("10000000000", Err(ValueError::Value)),
            ("1e400", Err(ValueError::Value)),
            ("1e99999999999999999999", Err(ValueError::Value)),
            ("1e-99999999999999999999", Err(ValueError::Format)),
            ("0e99999999999999999999", Ok("0")),
            ("99999999999999999999999", Err(ValueError::Value)),
            ("-0.01", Err(ValueError::Value)),
            ("0.0001", Err(ValueError::Format)),
            ("19.9995", Err(ValueError::Format)),
            ("19.990000000000000000000000001", Err(ValueError::Format)),
            ("x", Err(ValueError::Type)),
        ] {
            let read = literal.parse::<Price>().map(|price| serde_json::to_string(&price).unwrap());
            assert_eq!(read, price.map(str::to_owned), "{literal}");
        }
    }

    proptest::proptest! {
        #[test]
        fn price_serialised_and_parsed_is_unchanged(whole in 0u64..10_000_000_000, thousandths in 0u64..1000) {
            let literal = format!("{whole}.{thousandths:03}");
            let price: Price = literal.parse().unwrap();
            proptest::prop_assert_eq!(price, Price(whole * 1000 + thousandths));
            let written = serde_json::to_string(&price).unwrap();
            proptest::prop_assert_eq!(written.parse::<Price>().unwrap(), price);
            proptest::prop_assert_eq!(serde_json::from_str::<Price>(&written).unwrap(), price);
            proptest::prop_assert!(!written.contains('e'), "{}", written);
        }
    }
}
