//! The elements of `errors`: which field of a request is invalid, why, and what would be valid.

use std::borrow::Cow;

use domain::{Constrained, Constraint, Hint, Language, Unit, ValueError};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::ErrorCode;

/// Why a value is invalid, and what would be valid.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidValue {
    /// The reason.
    pub code: ErrorCode,
    /// The constraint that a valid value fulfils; empty if there is none to report.
    pub constraint: Constraint,
}

impl InvalidValue {
    /// The error `error` of parsing a `T`, with the constraint of `T`.
    pub fn of<T: Constrained>(error: ValueError) -> Self {
        Self::new(error, T::constraint())
    }

    /// The error `error` of a value that does not fulfil `constraint`.
    pub fn new(error: ValueError, constraint: Constraint) -> Self {
        let hint = match error {
            ValueError::AsciiLength => Some(Hint::AsciiForm),
            ValueError::Repeated => Some(Hint::Distinct),
            _ => constraint.hint,
        };
        Self { code: error.into(), constraint: Constraint { hint, ..constraint } }
    }
}

impl From<ValueError> for InvalidValue {
    fn from(error: ValueError) -> Self {
        Self::new(error, Constraint::default())
    }
}

impl From<ErrorCode> for InvalidValue {
    fn from(code: ErrorCode) -> Self {
        Self { code, constraint: Constraint::default() }
    }
}

/// An element of `errors`.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// A path such as `questions[2].language`.
    pub field: String,
    pub(crate) invalid: InvalidValue,
    /// The characters of the value that are not possible.
    characters: Vec<char>,
}

impl FieldError {
    /// The error `invalid` of `field`.
    pub fn new(field: impl Into<String>, invalid: impl Into<InvalidValue>) -> Self {
        Self { field: field.into(), invalid: invalid.into(), characters: Vec::new() }
    }

    /// The error `code` of `field`, whose value has these `characters`.
    pub fn of_characters(field: String, code: ErrorCode, characters: Vec<char>) -> Self {
        Self { characters, ..Self::new(field, code) }
    }
}

impl Serialize for FieldError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let InvalidValue { code, constraint } = &self.invalid;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("field", &self.field)?;
        map.serialize_entry("RESPONSE_CODE", code.code())?;
        map.serialize_entry("RESPONSE_TEXT", &text(*code, constraint, Language::default()))?;
        for (name, bound) in [("min", constraint.min), ("max", constraint.max)] {
            match bound {
                Some(bound) if bound.fract() == 0.0 => {
                    map.serialize_entry(name, &(bound as i64))?
                }
                Some(bound) => map.serialize_entry(name, &bound)?,
                None => {}
            }
        }
        for (name, bound) in [("min", constraint.earliest), ("max", constraint.latest)] {
            match bound {
                Some(date) if constraint.format == Some("date") => {
                    map.serialize_entry(name, &date.day())?
                }
                Some(time) => map.serialize_entry(name, &time)?,
                None => {}
            }
        }
        if let Some(decimals) = constraint.decimals {
            map.serialize_entry("decimals", &decimals)?;
        }
        if !constraint.allowed.is_empty() {
            map.serialize_entry("allowed", &constraint.allowed)?;
        }
        if !self.characters.is_empty() {
            map.serialize_entry("characters", &self.characters)?;
        }
        if let Some(format) = constraint.format {
            map.serialize_entry("format", format)?;
        }
        map.end()
    }
}

/// The text of `code`, with the bounds of `constraint` if it has those that `code` is about.
fn text(code: ErrorCode, constraint: &Constraint, language: Language) -> Cow<'static, str> {
    let Language::French = language;
    let Constraint { min, max, unit, earliest, latest, decimals, .. } = constraint;
    let units = match unit {
        Unit::Elements => "éléments",
        Unit::Words => "mots",
        Unit::Bytes => "octets",
        Unit::Characters | Unit::Number => "caractères",
    };
    match (code, constraint.hint) {
        (ErrorCode::FieldFormat, Some(Hint::CallingCode)) => {
            return "L’indicatif s’écrit en chiffres seuls, sans « + », par exemple 216.".into();
        }
        (ErrorCode::FieldValue, Some(Hint::End)) => {
            return "La fin doit être après le début.".into();
        }
        (ErrorCode::FieldValue, Some(Hint::SessionEnd)) => {
            return "Une séance dure de 5 minutes à 12 heures.".into();
        }
        (ErrorCode::FieldValue, Some(Hint::Distinct)) => {
            return "Une option est choisie deux fois.".into();
        }
        (ErrorCode::FieldRequired, Some(Hint::Consent)) => {
            return "Votre accord est nécessaire : cochez la case.".into();
        }
        (ErrorCode::FieldFormat, Some(Hint::FileName)) => {
            return "Un nom de fichier est fait d’une ligne sans « / » ni « \\ », et n’est ni « . » ni « .. »."
                .into();
        }
        (ErrorCode::FieldLength, Some(Hint::AsciiForm)) => {
            return "Chaque partie d’un nom de domaine a au plus 63 caractères, aussi dans sa forme ASCII (xn--…)."
                .into();
        }
        _ => {}
    }
    match (code, decimals) {
        (ErrorCode::FieldFormat, Some(0)) => return "Ce nombre s’écrit sans décimales.".into(),
        (ErrorCode::FieldFormat, Some(1)) => return "Ce nombre a au plus 1 décimale.".into(),
        (ErrorCode::FieldFormat, Some(decimals)) => {
            return format!("Ce nombre a au plus {decimals} décimales.").into();
        }
        (ErrorCode::FieldType, Some(0)) => return "Ce champ doit être un nombre entier.".into(),
        (ErrorCode::FieldType, Some(_)) => return "Ce champ doit être un nombre.".into(),
        _ => {}
    }
    if let (ErrorCode::FieldValue, Some(earliest), Some(latest)) = (code, earliest, latest) {
        let (earliest, latest) = (earliest.french_day(), latest.french_day());
        return format!("Cette date doit être comprise entre le {earliest} et le {latest}.").into();
    }
    match (code, *min, *max, constraint.format) {
        (ErrorCode::FieldLength, Some(min), Some(max), _) => {
            format!("Ce champ doit contenir entre {} et {} {units}.", french(min), french(max))
                .into()
        }
        (ErrorCode::FieldLength, None, Some(max), _) => {
            format!("Ce champ doit contenir au plus {} {units}.", french(max)).into()
        }
        (ErrorCode::PasswordTooShort, Some(min), Some(max), _) => format!(
            "Ce mot de passe est trop court : il doit contenir entre {} et {} caractères.",
            french(min),
            french(max)
        )
        .into(),
        (ErrorCode::FieldValue, _, _, _) if !constraint.allowed.is_empty() => {
            format!("Ce champ doit avoir l’une de ces valeurs : {}.", constraint.allowed.join(", "))
                .into()
        }
        (ErrorCode::FieldValue, Some(min), Some(max), _) if *unit == Unit::Number => {
            format!("Ce nombre doit être compris entre {} et {}.", french(min), french(max)).into()
        }
        (ErrorCode::FieldValue, Some(min), None, _) => {
            format!("Ce nombre doit être supérieur ou égal à {}.", french(min)).into()
        }
        (ErrorCode::FieldValue, _, _, Some("currency")) => {
            "Ce champ doit être un code de devise ISO 4217, par exemple TND.".into()
        }
        (ErrorCode::FieldFormat, _, _, Some(format)) => match format {
            "e164" => "Ce numéro doit être au format international, par exemple +21655000789.",
            "date" => "Ce champ doit être une date, par exemple 2026-11-20.",
            "date-time" => {
                "Ce champ doit être une date ISO 8601, par exemple 2026-11-20T09:30:00Z."
            }
            "time" => "Ce champ doit être une heure, par exemple 09:30.",
            "domain" => "Ce champ doit être un nom de domaine, par exemple exemple.org.",
            "language" => {
                "Ce champ doit être un code de langue de deux lettres majuscules, par exemple FR."
            }
            _ => code.text(language),
        }
        .into(),
        _ => code.text(language).into(),
    }
}

/// `number` in French notation: a narrow no-break space between thousands, a comma before decimals.
fn french(number: f64) -> String {
    let text = number.abs().to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let mut formatted = if number < 0.0 { "−".to_owned() } else { String::new() };
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            formatted.push('\u{202f}');
        }
        formatted.push(digit);
    }
    if !decimals.is_empty() {
        formatted.push(',');
        formatted.push_str(decimals);
    }
    formatted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn french_numbers_group_thousands_and_write_a_comma() {
        assert_eq!(french(128.0), "128");
        assert_eq!(french(-5000.0), "−5\u{202f}000");
        assert_eq!(french(102_400.0), "102\u{202f}400");
        assert_eq!(french(9_999_999_999.99), "9\u{202f}999\u{202f}999\u{202f}999,99");
    }
}
