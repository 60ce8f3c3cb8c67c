//! Telephone numbers, valid for their country's numbering plan.
//!
//! The plans come with the `rlibphonenumber` crate, a port of Google's libphonenumber, whose first use costs about
//! 5 ms of CPU; only functions that take numbers in call [`Phone::parse`] or the `FromStr` of [`E164`] and
//! [`Mobile`], so the linker leaves the plans out of all others.

use std::{fmt, str::FromStr};

use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat, PhoneNumberType};
use serde::{Deserialize, Serialize};

use crate::ValueError;

/// A person's number in its two parts, both digits only: `216` and `20123456`. Both are empty
/// when there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phone {
    /// The country calling code, 1 to 3 digits.
    #[serde(rename = "phoneCode")]
    pub code: String,
    /// The national number.
    #[serde(rename = "phone")]
    pub number: String,
}

impl Phone {
    /// The number `number` in the country of calling code `code`. `Format` unless both are
    /// digits, `Value` when that country has no such number.
    pub fn parse(code: &str, number: &str) -> Result<Self, ValueError> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (code, number) = (code.trim(), number.trim());
        if !digits(code) || !digits(number) || code.len() > 3 || number.len() > 15 {
            return Err(ValueError::Format);
        }
        // "21" and "620123456" are the digits of a number of Tunisia, and no number of a country "21".
        let plan = in_plan(&format!("+{code}{number}"))
            .filter(|plan| plan.country_code.to_string() == code);
        plan.map(|_| Self {
            code: code.to_owned(),
            number: number.to_owned(),
        })
        .ok_or(ValueError::Value)
    }
}

/// A number in international form with its leading `+` (ITU-T E.164), at most 15 digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct E164(String);

impl FromStr for E164 {
    type Err = ValueError;

    /// `Required` for nothing, `Format` for other signs than `+` and digits, `Value` when the
    /// country's plan has no such number.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        international(text).map(|(number, _)| number)
    }
}

impl E164 {
    /// The number as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A number that text messages can be sent to: a mobile one, or one of a country whose plan does not tell
/// mobile from fixed ones. Not a fixed line, not one that costs who writes to it more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mobile {
    /// The number.
    pub number: E164,
    /// Its country calling code.
    pub country_code: u16,
}

impl FromStr for Mobile {
    type Err = ValueError;

    /// As [`E164`], and `Value` for any other kind of number.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let (number, plan) = international(text)?;
        let country_code = u16::try_from(plan.country_code).map_err(|_| ValueError::Value)?;
        match plan.get_type() {
            PhoneNumberType::Mobile | PhoneNumberType::FixedLineOrMobile => Ok(Self {
                number,
                country_code,
            }),
            _ => Err(ValueError::Value),
        }
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
    in_plan(text)
        .map(|plan| (E164(text.to_owned()), plan))
        .ok_or(ValueError::Value)
}

impl fmt::Display for E164 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Parsing alone takes numbers that are too long for their plan; `is_valid` does not.
fn in_plan(international: &str) -> Option<PhoneNumber> {
    let number = PHONE_NUMBER_UTIL.parse(international, None).ok()?;
    // "+2160…" would parse with its zero dropped: then it is not the number that was written.
    let is_it = number.is_valid() && number.format_as(PhoneNumberFormat::E164) == international;
    is_it.then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_against_their_plan() {
        for (code, number, expected) in [
            ("216", "20123456", None),
            ("33", "612345678", None),
            ("216", "2012345", Some(ValueError::Value)),
            ("216", "201234567", Some(ValueError::Value)),
            ("999", "20123456", Some(ValueError::Value)),
            ("216", "020123456", Some(ValueError::Value)),
            // a national prefix within the number: Egypt's 0, Algeria's
            ("20", "0312282885", Some(ValueError::Value)),
            ("213", "0555123456", Some(ValueError::Value)),
            ("21", "620123456", Some(ValueError::Value)),
            ("+216", "20123456", Some(ValueError::Format)),
            ("216", "20 123 456", Some(ValueError::Format)),
            ("216", "٢٠١٢٣٤٥٦", Some(ValueError::Format)),
        ] {
            assert_eq!(
                Phone::parse(code, number).err(),
                expected,
                "{code} {number}"
            );
        }
    }

    #[test]
    fn text_messages_go_to_mobile_numbers() {
        for (number, expected) in [
            ("+21620123456", Ok(216)),
            ("+21650123456", Ok(216)),
            ("+33612345678", Ok(33)),
            // a plan without mobile numbers of its own
            ("+12015550123", Ok(1)),
            // Tunis, a premium line, a free one
            ("+21671123456", Err(ValueError::Value)),
            ("+21688123456", Err(ValueError::Value)),
            ("+21680123456", Err(ValueError::Value)),
            ("+2162012345", Err(ValueError::Value)),
            ("+216201234567", Err(ValueError::Value)),
            ("+216 20 123 456", Err(ValueError::Format)),
            ("0021620123456", Err(ValueError::Format)),
            ("+2162012345a", Err(ValueError::Format)),
        ] {
            assert_eq!(
                number.parse::<Mobile>().map(|mobile| mobile.country_code),
                expected,
                "{number}"
            );
        }
    }

    #[test]
    fn international_form_needs_its_plus() {
        assert!("+21671123456".parse::<E164>().is_ok());
        assert_eq!("21671123456".parse::<E164>(), Err(ValueError::Format));
        assert_eq!("+216711234567".parse::<E164>(), Err(ValueError::Value));
        assert_eq!("+".parse::<E164>(), Err(ValueError::Format));
        assert_eq!("".parse::<E164>(), Err(ValueError::Required));
    }
}
