//! Reads the fields of a body or a query into validated types.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fmt,
    ops::RangeInclusive,
    str::FromStr,
};

use bytes::Bytes;
use domain::{
    CommitteeId, Constrained, Constraint, Hint, Line, Patch, Phone, Unit, ValueError, is_blank,
};
use secrecy::SecretString;
use serde_json::{Map, Number, Value, value::RawValue};

use crate::{ErrorCode, FieldError, InvalidValue};

/// An invalid field, whose error is recorded in [`Fields`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidField(());

/// The fields of a JSON object, and the errors found while reading them. Unknown fields are ignored.
#[derive(Debug)]
pub struct Fields {
    object: Map<String, Value>,
    /// The body that contains the object; empty for a query and for nested objects.
    body: Bytes,
    /// The prefix of field names in errors, such as `questions[2].`; empty at the top level.
    path: String,
    errors: Vec<FieldError>,
}

impl Fields {
    /// The fields of `object`, which was parsed from `body`.
    pub(crate) const fn new(object: Map<String, Value>, body: Bytes) -> Self {
        Self { object, body, path: String::new(), errors: Vec::new() }
    }

    pub(crate) fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    /// Reads the field `name` with `read`. Absent, null and empty are `FIELD_REQUIRED_MESSAGE`.
    pub fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Result<T, InvalidField> {
        let value = self.object.remove(name).unwrap_or(Value::Null);
        let is_empty = value.is_null() || value.as_str().is_some_and(str::is_empty);
        let result =
            if is_empty { Err(invalid(ErrorCode::FieldRequired, read)) } else { read(value) };
        self.ok_or_reject(name, result)
    }

    /// Reads the field `name` with `read`, if it is present: `None` when it is absent.
    /// Null is `FIELD_TYPE_MESSAGE`.
    pub fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Result<Option<T>, InvalidField> {
        match self.object.remove(name) {
            None => Ok(None),
            Some(Value::Null) => self.ok_or_reject(name, Err(invalid(ErrorCode::FieldType, read))),
            Some(value) => {
                let result = read(value);
                self.ok_or_reject(name, result).map(Some)
            }
        }
    }

    /// As [`optional`](Self::optional), with `default` for an absent field.
    pub fn optional_or<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
        default: T,
    ) -> Result<T, InvalidField> {
        Ok(self.optional(name, read)?.unwrap_or(default))
    }

    /// Reads the field `name` of a partial update with `read`. Null and blank texts clear the stored value.
    pub fn patch<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Result<Patch<T>, InvalidField> {
        match self.object.remove(name) {
            None => Ok(Patch::Absent),
            Some(Value::Null) => Ok(Patch::Null),
            Some(Value::String(text)) if is_blank(&text) => Ok(Patch::Null),
            Some(value) => {
                let result = read(value);
                self.ok_or_reject(name, result).map(Patch::Value)
            }
        }
    }

    /// As [`optional`](Self::optional), but null and blank texts count as absent.
    pub fn nullable<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Value) -> Result<T, InvalidValue>,
    ) -> Result<Option<T>, InvalidField> {
        self.patch(name, read).map(Patch::value)
    }

    /// Reads the secret `name`, which is not trimmed. Absent, null and empty are `None`.
    pub fn optional_secret(&mut self, name: &str) -> Result<Option<SecretString>, InvalidField> {
        match self.object.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(value) => self.ok_or_reject(name, secret(value)).map(Some),
        }
    }

    /// Reads several fields into one value, as a method that `input!` can name.
    pub fn group<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, InvalidField>,
    ) -> Result<T, InvalidField> {
        read(self)
    }

    /// Reads the number `name` with `read` from its digits in the body, for values that must not be rounded to a double.
    /// Absent and null are `None`; a value of another type is no digits. Only for fields at the top level: nested
    /// objects have no body.
    pub fn exact_number<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, InvalidValue>,
    ) -> Result<Option<T>, InvalidField> {
        let literal = match self.object.remove(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(_)) => self.literal(name).unwrap_or_default(),
            Some(_) => String::new(),
        };
        self.ok_or_reject(name, read(&literal)).map(Some)
    }

    /// The JSON text of the field `name`, exactly as in the body.
    fn literal(&self, name: &str) -> Option<String> {
        let body = self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body);
        let values: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(body).ok()?;
        values.get(name).map(|value| value.get().to_owned())
    }

    /// The values of the object `name` by their names, each as it stands in the body: numbers keep all their digits.
    /// Absent is `None`. Only for fields at the top level: nested objects have no body.
    pub fn literals(
        &mut self,
        name: &str,
    ) -> Result<Option<BTreeMap<String, Box<RawValue>>>, InvalidField> {
        match self.object.remove(name) {
            None => Ok(None),
            Some(Value::Object(_)) => {
                let literal = self.literal(name).unwrap_or_default();
                let values = serde_json::from_str(&literal).map_err(|_| ValueError::Type.into());
                self.ok_or_reject(name, values).map(Some)
            }
            Some(_) => self.ok_or_reject(name, Err(ValueError::Type.into())),
        }
    }

    /// Reads the list `name` of 1 to `max` objects; `read` reads the fields of one object. Absent, null and empty are
    /// `FIELD_REQUIRED_MESSAGE`.
    pub fn objects<T>(
        &mut self,
        name: &str,
        max: usize,
        read: impl Fn(&mut Self) -> Result<T, InvalidField>,
    ) -> Result<Vec<T>, InvalidField> {
        self.objects_or_texts(name, max, None, read)
    }

    /// As [`objects`](Self::objects), but the list may be empty.
    pub fn any_objects<T>(
        &mut self,
        name: &str,
        max: usize,
        read: impl Fn(&mut Self) -> Result<T, InvalidField>,
    ) -> Result<Vec<T>, InvalidField> {
        self.elements(name, 0..=max, None, read)
    }

    /// As [`objects`](Self::objects). With `text_field`, an element may also be a text: it is short for an object with
    /// that text in the field `text_field` and no other fields.
    pub fn objects_or_texts<T>(
        &mut self,
        name: &str,
        max: usize,
        text_field: Option<&str>,
        read: impl Fn(&mut Self) -> Result<T, InvalidField>,
    ) -> Result<Vec<T>, InvalidField> {
        self.elements(name, 1..=max, text_field, read)
    }

    fn elements<T>(
        &mut self,
        name: &str,
        length: RangeInclusive<usize>,
        text_field: Option<&str>,
        read: impl Fn(&mut Self) -> Result<T, InvalidField>,
    ) -> Result<Vec<T>, InvalidField> {
        let constraint = Constraint::length(*length.start(), *length.end(), Unit::Elements);
        let list = match self.object.remove(name) {
            None | Some(Value::Null) => Err(ValueError::Required),
            Some(Value::Array(list)) if length.contains(&list.len()) => Ok(list),
            Some(Value::Array(list)) if list.is_empty() => Err(ValueError::Required),
            Some(Value::Array(_)) => Err(ValueError::Length),
            Some(_) => Err(ValueError::Type),
        };
        let list = list.map_err(|error| InvalidValue { code: error.into(), constraint });
        let list = self.ok_or_reject(name, list)?;
        let elements = list.into_iter().enumerate().map(|(index, value)| {
            let path = format!("{name}[{index}]");
            let object = match (value, text_field) {
                (Value::Object(object), _) => object,
                (text @ Value::String(_), Some(field)) => {
                    Map::from_iter([(field.to_owned(), text)])
                }
                _ => return self.ok_or_reject(&path, Err(ValueError::Type.into())),
            };
            self.inner(&path, object, &read)
        });
        // Collected first, so that the errors of all elements are recorded.
        elements.collect::<Vec<_>>().into_iter().collect()
    }

    /// Reads the object `name`; `read` reads its fields. Absent and null are `None`.
    pub fn object<T>(
        &mut self,
        name: &str,
        read: impl Fn(&mut Self) -> Result<T, InvalidField>,
    ) -> Result<Option<T>, InvalidField> {
        match self.object.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => self.inner(name, object, read).map(Some),
            Some(_) => self.ok_or_reject(name, Err(ValueError::Type.into())),
        }
    }

    /// Reads the fields of `object`, which is at `path`.
    fn inner<T>(
        &mut self,
        path: &str,
        object: Map<String, Value>,
        read: impl Fn(&mut Self) -> Result<T, InvalidField>,
    ) -> Result<T, InvalidField> {
        let mut fields =
            Self { path: format!("{}{path}.", self.path), ..Self::new(object, Bytes::new()) };
        let read = read(&mut fields);
        self.errors.append(&mut fields.errors);
        read
    }

    /// Parses the list `name` of at most `max` texts; the error names `min`, which the caller checks. Absent and null are
    /// `None`.
    pub fn texts<T: FromStr<Err = ValueError> + Constrained>(
        &mut self,
        name: &str,
        min: Option<usize>,
        max: usize,
    ) -> Result<Option<Vec<T>>, InvalidField> {
        let list = match self.object.remove(name) {
            None | Some(Value::Null) => return Ok(None),
            // Each element could have an error.
            Some(Value::Array(list)) if list.len() > max => {
                let constraint = Constraint {
                    min: min.map(|min| min as f64),
                    ..Constraint::length(0, max, Unit::Elements)
                };
                Err(InvalidValue { code: ErrorCode::FieldLength, constraint })
            }
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(ValueError::Type.into()),
        };
        let list = self.ok_or_reject(name, list)?;
        let texts = list
            .into_iter()
            .enumerate()
            .map(|(index, value)| self.ok_or_reject(&format!("{name}[{index}]"), text(value)));
        texts.collect::<Vec<_>>().into_iter().collect::<Result<_, _>>().map(Some)
    }

    /// The unread value of the field `name`, for a handler that parses it itself. Never an error.
    pub fn raw(&mut self, name: &str) -> Result<Option<Value>, InvalidField> {
        Ok(self.object.remove(name))
    }

    /// Whether the field `name` is present and not read yet.
    pub fn has(&self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// Records the error `invalid` for `field`.
    pub fn reject(&mut self, field: &str, invalid: impl Into<InvalidValue>) -> InvalidField {
        self.errors.push(FieldError::new(format!("{}{field}", self.path), invalid));
        InvalidField(())
    }

    /// The value of `result`, whose error is recorded for the field `name`.
    fn ok_or_reject<T>(
        &mut self,
        name: &str,
        result: Result<T, InvalidValue>,
    ) -> Result<T, InvalidField> {
        result.map_err(|error| self.reject(name, error))
    }
}

/// The error `code`, with the constraint of what `read` accepts.
fn invalid<T>(
    code: ErrorCode,
    read: impl FnOnce(Value) -> Result<T, InvalidValue>,
) -> InvalidValue {
    // Reading null fails with that constraint.
    let error = read(Value::Null).err();
    let constraint = error.map(|error| error.constraint).unwrap_or_default();
    InvalidValue { code, constraint }
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
    text.and_then(|text| text.parse().ok()).ok_or_else(|| InvalidValue::of::<T>(ValueError::Value))
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
        ErrorCode::FieldFormat => InvalidValue { code: ErrorCode::CommitteeInvalid, ..invalid },
        _ => invalid,
    })
}

/// Reads a secret, such as a password, without trimming it or checking its length. Empty is `FIELD_REQUIRED_MESSAGE`.
pub fn secret(value: Value) -> Result<SecretString, InvalidValue> {
    match value {
        Value::String(text) if text.is_empty() => Err(ValueError::Required.into()),
        Value::String(text) => Ok(text.into()),
        _ => Err(ValueError::Type.into()),
    }
}

/// Reads a phone number from the fields `phoneCode` and `phone`. Two empty texts are the empty number. `None` when
/// both are absent.
pub fn phone(fields: &mut Fields) -> Result<Option<Phone>, InvalidField> {
    let code = fields.optional("phoneCode", |value| {
        text_or_empty::<Line<15>>(value)
            .map_err(|invalid| InvalidValue { constraint: calling_code(), ..invalid })
    });
    let number = fields.optional("phone", text_or_empty::<Line<15>>);
    let (code, number) = (code?, number?);
    if code.is_none() && number.is_none() {
        return Ok(None);
    }
    let (code, number) = (code.unwrap_or_default(), number.unwrap_or_default());
    let (field, error) = match (code.is_empty(), number.is_empty()) {
        _ if !code.bytes().all(|byte| byte.is_ascii_digit()) => ("phoneCode", ValueError::Format),
        _ if code.len() > 3 => ("phoneCode", ValueError::Length),
        (true, true) => return Ok(Some(Phone::default())),
        (true, false) => ("phoneCode", ValueError::Required),
        (false, true) => ("phone", ValueError::Required),
        (false, false) => match Phone::parse(&code, &number) {
            Ok(phone) => return Ok(Some(phone)),
            Err(error) => ("phone", error),
        },
    };
    let invalid = match field {
        "phoneCode" => InvalidValue { code: error.into(), constraint: calling_code() },
        _ => InvalidValue::of::<Line<15>>(error),
    };
    Err(fields.reject(field, invalid))
}

fn calling_code() -> Constraint {
    Constraint { hint: Some(Hint::CallingCode), ..Line::<3>::constraint() }
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
        let is_whole = |number: &&Number| !number.is_f64() || is_huge(number);
        let invalid = |code| InvalidValue {
            code,
            constraint: Constraint {
                min: Some(*range.start() as f64),
                max: (*range.end() < MAX_SAFE_INTEGER).then_some(*range.end() as f64),
                decimals: Some(0),
                ..Constraint::default()
            },
        };
        let number =
            value.as_number().filter(is_whole).ok_or_else(|| invalid(ErrorCode::FieldType))?;
        number
            .as_u64()
            .filter(|number| range.contains(number))
            .and_then(|number| N::try_from(number).ok())
            .ok_or_else(|| invalid(ErrorCode::FieldValue))
    }
}

/// Errors state no larger bound, because clients may read JSON numbers as doubles (RFC 8259 §6).
const MAX_SAFE_INTEGER: u64 = 1 << 53;
