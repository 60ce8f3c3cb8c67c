//! Fields on their way from a body or a query into types that prove their rules.

use std::{borrow::Cow, collections::HashMap, fmt, ops::RangeInclusive, str::FromStr};

use bytes::Bytes;
use domain::{CommitteeId, Constrained, Constraint, Line, Patch, Phone, Unit, ValueError};
use secrecy::SecretString;
use serde_json::{Map, Number, Value, value::RawValue};

use crate::{ErrorCode, FieldError, InvalidValue};

/// The fields of a body on their way into a type. Unknown ones are never looked at.
#[derive(Debug)]
pub struct Fields {
    object: Map<String, Value>,
    /// Where they were written.
    body: Bytes,
    /// What stands before their names in errors: `questions[2].`, or nothing.
    path: String,
    errors: Vec<FieldError>,
}

impl Fields {
    /// The fields of `object`, which is written in `body`.
    pub(crate) const fn new(object: Map<String, Value>, body: Bytes) -> Self {
        Self {
            object,
            body,
            path: String::new(),
            errors: Vec::new(),
        }
    }

    pub(crate) fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    /// The field `name` as `read` reads it. Absent, null and empty are `FIELD_REQUIRED_MESSAGE`.
    pub fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Option<T> {
        let value = self.object.remove(name).unwrap_or(Value::Null);
        let is_empty = value.is_null() || value.as_str().is_some_and(str::is_empty);
        let result = if is_empty {
            // The error says what would be valid: reading an empty text tells.
            let constraint = read(Value::String(String::new()))
                .err()
                .map(|error| error.constraint);
            Err(InvalidValue {
                code: ErrorCode::FieldRequired,
                constraint: constraint.unwrap_or_default(),
            })
        } else {
            read(value)
        };
        self.note(name, result)
    }

    /// The field `name`, if it is there: `Some(None)` when it is absent, `None` when it is refused.
    /// Null is of the wrong type.
    pub fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Option<Option<T>> {
        match self.object.remove(name) {
            None => Some(None),
            Some(Value::Null) => self.note(name, Err(ValueError::Type.into())),
            Some(value) => {
                let result = read(value);
                self.note(name, result).map(Some)
            }
        }
    }

    /// The field `name`, or `default` where it is absent. Null is of the wrong type.
    pub fn optional_or<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
        default: T,
    ) -> Option<T> {
        Some(self.optional(name, read)?.unwrap_or(default))
    }

    /// The field `name` of a partial update: null and the empty text make it empty. `None` when it is refused.
    pub fn patch<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Option<Patch<T>> {
        match self.object.remove(name) {
            None => Some(Patch::Absent),
            Some(Value::Null) => Some(Patch::Null),
            Some(Value::String(text)) if text.trim().is_empty() => Some(Patch::Null),
            Some(value) => {
                let result = read(value);
                self.note(name, result).map(Patch::Value)
            }
        }
    }

    /// The field `name`, if it is there and neither null nor the empty text; the outer `Option` is that of
    /// [`optional`](Self::optional).
    pub fn nullable<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Option<Option<T>> {
        self.patch(name, read).map(Patch::value)
    }

    /// What `read` makes of several fields.
    pub fn group<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        read(self)
    }

    /// The number `name`, if it is there and not null, digit by digit, for a value that no double may round.
    /// The outer `Option` is that of [`optional`](Self::optional).
    pub fn exact_number<T: FromStr<Err = ValueError> + Constrained>(
        &mut self,
        name: &str,
    ) -> Option<Option<T>> {
        match self.object.remove(name) {
            None | Some(Value::Null) => Some(None),
            Some(Value::Number(_)) => {
                let number = self
                    .literal(name)
                    .ok_or(ValueError::Type)
                    .and_then(|literal| literal.parse());
                self.note(name, number.map_err(InvalidValue::of::<T>))
                    .map(Some)
            }
            Some(_) => self.note(name, Err(ValueError::Type.into())),
        }
    }

    /// What stands after `name` in the body, letter by letter.
    fn literal(&self, name: &str) -> Option<String> {
        let body = self
            .body
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.body);
        let all: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(body).ok()?;
        all.get(name).map(|value| value.get().to_owned())
    }

    /// The objects of the list `name`, `1..=most` of them, each as `read` reads its fields. Absent, null and
    /// empty are `FIELD_REQUIRED_MESSAGE`.
    pub fn objects<T>(
        &mut self,
        name: &str,
        most: usize,
        read: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.objects_or_texts(name, most, None, read)
    }

    /// The same, where a text stands for an object that has it as its only field, `short_for`, if there is one.
    pub fn objects_or_texts<T>(
        &mut self,
        name: &str,
        most: usize,
        short_for: Option<&str>,
        read: impl Fn(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let constraint = Constraint::length(1, most, Unit::Elements);
        let list = match self.object.remove(name) {
            None | Some(Value::Null) => Err(ValueError::Required),
            Some(Value::Array(list)) if list.is_empty() => Err(ValueError::Required),
            Some(Value::Array(list)) if list.len() > most => Err(ValueError::Length),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(ValueError::Type),
        };
        let list = list.map_err(|error| InvalidValue {
            code: error.into(),
            constraint,
        });
        let all = self
            .note(name, list)?
            .into_iter()
            .enumerate()
            .map(|(number, value)| {
                let path = format!("{name}[{number}]");
                let object = match (value, short_for) {
                    (Value::Object(object), _) => object,
                    (text @ Value::String(_), Some(field)) => {
                        Map::from_iter([(field.to_owned(), text)])
                    }
                    _ => return self.note(&path, Err(ValueError::Type.into())),
                };
                let mut fields = Self {
                    path: format!("{}{path}.", self.path),
                    ..Self::new(object, Bytes::new())
                };
                let read = read(&mut fields);
                self.errors.append(&mut fields.errors);
                read
            });
        // All of them are read, so that all mistakes are told.
        all.collect::<Vec<Option<T>>>().into_iter().collect()
    }

    /// The texts of the list `name`, if it is there and not null, each as its type reads it.
    pub fn texts<T: FromStr<Err = ValueError> + Constrained>(
        &mut self,
        name: &str,
    ) -> Option<Option<Vec<T>>> {
        let list = match self.object.remove(name) {
            None | Some(Value::Null) => return Some(None),
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(ValueError::Type.into()),
        };
        let list = self.note(name, list)?;
        let all = list
            .into_iter()
            .enumerate()
            .map(|(number, value)| self.note(&format!("{name}[{number}]"), text(value)));
        all.collect::<Vec<Option<T>>>()
            .into_iter()
            .collect::<Option<Vec<T>>>()
            .map(Some)
    }

    /// The field `name` as it was written, for a rule that needs more than the body. Never refused.
    pub fn raw(&mut self, name: &str) -> Option<Option<Value>> {
        Some(self.object.remove(name))
    }

    /// The body that they were written in, byte for byte.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Whether the field `name` is there.
    pub fn has(&self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// Refuses `field`.
    pub fn refuse(&mut self, field: &str, invalid: impl Into<InvalidValue>) {
        self.errors
            .push(FieldError::new(format!("{}{field}", self.path), invalid));
    }

    fn note<T>(&mut self, name: &str, result: Result<T, InvalidValue>) -> Option<T> {
        result.map_err(|error| self.refuse(name, error)).ok()
    }
}

/// Reads a text as a `T`: `FIELD_TYPE_MESSAGE` for another JSON type, else the error of `T`.
pub fn text<T: FromStr<Err = ValueError> + Constrained>(value: Value) -> Result<T, InvalidValue> {
    let parsed = match value {
        Value::String(text) => text.parse(),
        _ => Err(ValueError::Type),
    };
    parsed.map_err(InvalidValue::of::<T>)
}

/// Reads a query parameter with a fixed set of values: `FIELD_VALUE_MESSAGE` for any other.
pub fn choice<T: FromStr + Constrained>(value: Value) -> Result<T, InvalidValue> {
    let text = value.as_str();
    text.and_then(|text| text.parse().ok())
        .ok_or(InvalidValue::of::<T>(ValueError::Value))
}

/// Reads a text as a `T` and returns the text; an empty text stays empty.
pub fn text_or_empty<T: FromStr<Err = ValueError> + Constrained + fmt::Display>(
    value: Value,
) -> Result<String, InvalidValue> {
    match text::<T>(value) {
        Ok(text) => Ok(text.to_string()),
        Err(invalid) if invalid.code == ErrorCode::FieldRequired => Ok(String::new()),
        Err(invalid) => Err(invalid),
    }
}

/// Reads a committee's id: a malformed one is `COMMITTEE_INVALID_MESSAGE`, as an unknown one.
pub fn committee_id(value: Value) -> Result<CommitteeId, InvalidValue> {
    text(value).map_err(|invalid| match invalid.code {
        ErrorCode::FieldFormat => InvalidValue {
            code: ErrorCode::CommitteeInvalid,
            ..invalid
        },
        _ => invalid,
    })
}

/// Reads a secret, such as a password: neither trimmed nor measured. Empty is `FIELD_REQUIRED_MESSAGE`.
pub fn secret(value: Value) -> Result<SecretString, InvalidValue> {
    match value {
        Value::String(text) if text.is_empty() => Err(ValueError::Required.into()),
        Value::String(text) => Ok(text.into()),
        _ => Err(ValueError::Type.into()),
    }
}

/// Reads the two parts of a number, `phoneCode` and `phone`: both, or two empty texts, which are none.
/// `Some(None)` when neither is there, `None` when they are refused.
pub fn phone(fields: &mut Fields) -> Option<Option<Phone>> {
    let code = fields.optional("phoneCode", text_or_empty::<Line<15>>);
    let number = fields.optional("phone", text_or_empty::<Line<15>>);
    let (code, number) = (code?, number?);
    if code.is_none() && number.is_none() {
        return Some(None);
    }
    let (code, number) = (code.unwrap_or_default(), number.unwrap_or_default());
    let refused = match (code.is_empty(), number.is_empty()) {
        _ if code.len() > 3 || !code.bytes().all(|byte| byte.is_ascii_digit()) => {
            ("phoneCode", ValueError::Format)
        }
        (true, true) => return Some(Some(Phone::default())),
        (true, false) => ("phoneCode", ValueError::Required),
        (false, true) => ("phone", ValueError::Required),
        (false, false) => match Phone::parse(&code, &number) {
            Ok(phone) => return Some(Some(phone)),
            Err(error) => ("phone", error),
        },
    };
    fields.refuse(refused.0, refused.1);
    None
}

/// Reads `true` or `false`: `FIELD_TYPE_MESSAGE` for anything else.
pub fn flag(value: Value) -> Result<bool, InvalidValue> {
    value.as_bool().ok_or(ValueError::Type.into())
}

/// Reads a whole number: `FIELD_TYPE_MESSAGE` for anything else, `FIELD_VALUE_MESSAGE` outside `range`.
pub fn integer<N: TryFrom<u64> + Into<u64> + Copy>(
    range: RangeInclusive<N>,
) -> impl FnOnce(Value) -> Result<N, InvalidValue> {
    move |value| {
        let range: RangeInclusive<u64> = (*range.start()).into()..=(*range.end()).into();
        // serde_json reads whole numbers beyond 64 bits as floating-point ones.
        let is_huge = |number: &Number| number.as_f64().is_some_and(|number| number.abs() >= 9e18);
        let is_whole = |number: &&Number| number.is_i64() || number.is_u64() || is_huge(number);
        let number = value.as_number().filter(is_whole).ok_or(ValueError::Type)?;
        let max = (*range.end() < MAX_SAFE_INTEGER).then_some(*range.end() as f64);
        let outside = InvalidValue {
            code: ErrorCode::FieldValue,
            constraint: Constraint {
                min: Some(*range.start() as f64),
                max,
                ..Constraint::default()
            },
        };
        number
            .as_u64()
            .filter(|number| range.contains(number))
            .and_then(|number| N::try_from(number).ok())
            .ok_or(outside)
    }
}

/// Clients read JSON numbers as double-precision ones (RFC 8259 §6): no larger bound is named.
const MAX_SAFE_INTEGER: u64 = 1 << 53;
