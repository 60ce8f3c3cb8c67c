//! Phone numbers, validated against the numbering plan of their country.
//!
//! The plans come from the `rlibphonenumber` crate, a port of Google's libphonenumber. Its first use costs about 5 ms
//! of CPU. The linker drops the plans from binaries that call neither [`Phone::parse`] nor the `FromStr` of [`E164`]
//! and [`Mobile`].

use std::{fmt, str::FromStr};

use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat, PhoneNumberType};
use serde::{Deserialize, Serialize};

use crate::{ValueError, text::as_str};

/// The phone number of an account in two parts of digits, such as `216` and `20123456`. Both are empty if there is no
/// number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phone {
    /// Country calling code, 1 to 3 digits.
    #[serde(rename = "phoneCode")]
    pub code: String,
    /// National number.
    #[serde(rename = "phone")]
    pub number: String,
}

impl Phone {
    /// Validates the national number `number` under the country calling code `code`. `Format` unless both are digits
    /// (at most 3 and 15) and the country's plan has such a number.
    pub fn parse(code: &str, number: &str) -> Result<Self, ValueError> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (code, number) = (code.trim(), number.trim());
        if !digits(code) || !digits(number) || code.len() > 3 || number.len() > 15 {
            return Err(ValueError::Format);
        }
        // "21" and "620123456" join to a valid Tunisian number (216), but there is no country code 21.
        let plan = in_plan(&format!("+{code}{number}"))
            .filter(|plan| plan.country_code.to_string() == code);
        plan.map(|_| Self { code: code.to_owned(), number: number.to_owned() })
            .ok_or(ValueError::Format)
    }
}

/// A number in international format (ITU-T E.164): `+` and at most 15 digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct E164(String);

impl FromStr for E164 {
    type Err = ValueError;

    /// `Required` for white space alone, `Format` unless it is `+` and 1 to 15 digits and the country's plan has such
    /// a number.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        international(text).map(|(number, _)| number)
    }
}

as_str!(E164);

/// A number that can receive text messages: a mobile number, or one of a country whose plan does not distinguish mobile
/// from fixed lines. Fixed lines and premium-rate or toll-free numbers are not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mobile {
    /// The number in international format.
    pub number: E164,
    /// Its country calling code.
    pub country_code: u16,
}

impl FromStr for Mobile {
    type Err = ValueError;

    /// As [`E164`], and `Value` for a number that is not mobile.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (number, plan) = international(text)?;
        let country_code = u16::try_from(plan.country_code).map_err(|_| ValueError::Value)?;
        match plan.get_type() {
            PhoneNumberType::Mobile | PhoneNumberType::FixedLineOrMobile => {
                Ok(Self { number, country_code })
            }
            _ => Err(ValueError::Value),
        }
    }
}

/// Calling codes of the countries whose mobile numbers may receive text messages. Written as `216,213`.
#[derive(Debug, Clone)]
pub struct CountryCodes(Vec<u16>);

impl FromStr for CountryCodes {
    type Err = &'static str;

    /// At least one code of 1 to 999.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let codes: Result<Vec<u16>, _> = text.split(',').map(|code| code.trim().parse()).collect();
        let codes = codes.ok().filter(|codes| codes.iter().all(|code| (1..=999).contains(code)));
        codes.map(Self).ok_or("must be calling codes such as 216, separated by commas")
    }
}

impl CountryCodes {
    /// Whether the calling code of `phone` is one of these. Does not load the numbering plans, which takes 5 ms.
    pub fn contain(&self, phone: &Phone) -> bool {
        let code = phone.code.parse::<u16>();
        code.is_ok_and(|code| self.0.contains(&code))
    }

    /// Parses `text` as a mobile number of one of these countries: the errors of [`Mobile`], and `Value` for a number of
    /// another country.
    pub fn mobile(&self, text: &str) -> Result<Mobile, ValueError> {
        let mobile: Mobile = text.parse()?;
        if self.0.contains(&mobile.country_code) { Ok(mobile) } else { Err(ValueError::Value) }
    }
}

impl From<&Phone> for E164 {
    fn from(phone: &Phone) -> Self {
        Self(format!("+{}{}", phone.code, phone.number))
    }
}

fn international(text: &str) -> Result<(E164, PhoneNumber), ValueError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ValueError::Required);
    }
    let digits = text.strip_prefix('+').ok_or(ValueError::Format)?;
    if digits.is_empty() || digits.len() > 15 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ValueError::Format);
    }
    in_plan(text).map(|plan| (E164(text.to_owned()), plan)).ok_or(ValueError::Format)
}

impl fmt::Display for E164 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Parses a number and validates its length with `is_valid`, because `parse` accepts numbers that are too long.
fn in_plan(international: &str) -> Option<PhoneNumber> {
    let number = PHONE_NUMBER_UTIL.parse(international, None).ok()?;
    // `parse` drops the zero of "+2160…", which gives a different number.
    let is_same = number.is_valid() && number.format_as(PhoneNumberFormat::E164) == international;
    is_same.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phone_outside_numbering_plan_is_rejected() {
        for (code, number, expected) in [
            ("216", "20123456", None),
            ("33", "612345678", None),
            ("216", "2012345", Some(ValueError::Format)),
            ("216", "201234567", Some(ValueError::Format)),
            ("999", "20123456", Some(ValueError::Format)),
            ("216", "020123456", Some(ValueError::Format)),
            // with a national prefix (Egypt, Algeria)
            ("20", "0312282885", Some(ValueError::Format)),
            ("213", "0555123456", Some(ValueError::Format)),
            ("21", "620123456", Some(ValueError::Format)),
            ("+216", "20123456", Some(ValueError::Format)),
            ("216", "20 123 456", Some(ValueError::Format)),
            ("216", "٢٠١٢٣٤٥٦", Some(ValueError::Format)),
        ] {
            assert_eq!(Phone::parse(code, number).err(), expected, "{code} {number}");
        }
    }

    #[test]
    fn mobile_rejects_other_kinds_of_numbers() {
        for (number, expected) in [
            ("+21620123456", Ok(216)),
            ("+33612345678", Ok(33)),
            // a plan that does not distinguish mobile numbers
            ("+12015550123", Ok(1)),
            // fixed line, premium rate, toll-free
            ("+21671123456", Err(ValueError::Value)),
            ("+21688123456", Err(ValueError::Value)),
            ("+21680123456", Err(ValueError::Format)),
            ("+216 20 123 456", Err(ValueError::Format)),
            ("0021620123456", Err(ValueError::Format)),
        ] {
            let mobile = number.parse::<Mobile>();
            assert_eq!(mobile.map(|mobile| mobile.country_code), expected, "{number}");
        }
    }

    #[test]
    fn e164_without_plus_is_rejected() {
        assert!("+21671123456".parse::<E164>().is_ok());
        assert_eq!("21671123456".parse::<E164>(), Err(ValueError::Format));
        assert_eq!("+216711234567".parse::<E164>(), Err(ValueError::Format));
        assert_eq!("+".parse::<E164>(), Err(ValueError::Format));
        assert_eq!("".parse::<E164>(), Err(ValueError::Required));
    }
}
