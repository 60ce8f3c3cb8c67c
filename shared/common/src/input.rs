//! Reads request bodies and queries: parses JSON strictly, then reads field by field, so that one response reports all
//! invalid fields.

use std::fmt;

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, FromRequestParts, Request},
};
use bytes::Bytes;
use http::{HeaderMap, header, request::Parts};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use crate::{ApiError, ErrorCode, Fields, InvalidField, Query};

/// Extracts a `T` from a body that is a JSON object.
///
/// The extractor rejects with `PAYLOAD_TOO_LARGE_MESSAGE`, `UNSUPPORTED_MEDIA_TYPE_MESSAGE`, `INVALID_JSON_MESSAGE`, or
/// the errors of all invalid fields.
#[derive(Debug, Clone)]
pub struct Input<T>(pub T);

/// A type that is read from the fields of a body or query. `S` is the function's state, for rules that depend on
/// settings, such as the minimum length of passwords.
pub trait FromFields<S>: Sized {
    /// Maximum length of the body in bytes.
    const MAX_BYTES: usize = 102_400;

    /// Reads the value.
    ///
    /// # Errors
    /// When a field is invalid. All fields are read first, so that the error of each is recorded in `fields`.
    fn from_fields(fields: &mut Fields, state: &S) -> Result<Self, InvalidField>;
}

/// Declares a request struct, and the method of [`Fields`] that reads each of its fields. All fields are read even after
/// an error, so that the response reports all invalid ones.
///
/// ```ignore
/// input! {
///     pub(crate) struct SetStatusRequest {
///         is_active: bool = required("isActive", flag),
///     }
/// }
/// ```
///
/// A number after the name, as in `SetStatusRequest: 262_144`, is [`FromFields::MAX_BYTES`].
#[macro_export]
macro_rules! input {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(: $max_bytes:literal)? {
        $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty = $method:ident($($argument:expr),*)),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$doc])* $field_vis $field: $type),*
        }

        impl<S> $crate::FromFields<S> for $name {
            $(const MAX_BYTES: usize = $max_bytes;)?

            fn from_fields(fields: &mut $crate::Fields, _: &S) -> Result<Self, $crate::InvalidField> {
                $(let $field = fields.$method($($argument),*);)*
                Ok(Self { $($field: $field?),* })
            }
        }
    };
}

impl<T: FromFields<S>, S: Send + Sync> FromRequest<S> for Input<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let (object, body) = json_object(&parts.headers, body, T::MAX_BYTES).await?;
        read(Fields::new(object, body), state).map(Self)
    }
}

/// Reads a body of at most `max_bytes` bytes as a JSON object. Returns the body beside it.
///
/// # Errors
/// As [`Input`], but for the errors of fields.
pub(crate) async fn json_object(
    headers: &HeaderMap,
    body: Body,
    max_bytes: usize,
) -> Result<(Map<String, Value>, Bytes), ErrorCode> {
    let body = to_bytes(body, max_bytes).await.map_err(|_| ErrorCode::PayloadTooLarge)?;
    if !body.is_empty() && !is_plain_json(headers) {
        return Err(ErrorCode::UnsupportedMediaType);
    }
    Ok((object(&body)?, body))
}

/// Extracts a `T` from the query parameters, all of which are texts.
///
/// The extractor rejects with the errors of all invalid parameters.
#[derive(Debug, Clone)]
pub struct QueryInput<T>(pub T);

impl<T: FromFields<S>, S: Send + Sync> FromRequestParts<S> for QueryInput<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(query) = Query::from_request_parts(parts, state).await;
        read(Fields::new(query.into_object(), Bytes::new()), state).map(Self)
    }
}

pub(crate) fn read<T: FromFields<S>, S>(mut fields: Fields, state: &S) -> Result<T, ApiError> {
    match (T::from_fields(&mut fields, state), fields.into_errors()) {
        (Ok(input), errors) if errors.is_empty() => Ok(input),
        (_, errors) => Err(ApiError::fields(errors)),
    }
}

/// Whether the content type is absent or `application/json`, with no other `charset` than `utf-8`, and there is no content
/// encoding.
fn is_plain_json(headers: &HeaderMap) -> bool {
    let all = |name| {
        headers
            .get_all(name)
            .iter()
            .map(|value| value.to_str().unwrap_or("?").trim().to_ascii_lowercase())
    };
    let json = |text: String| {
        let mut parts = text.split(';').map(str::trim);
        parts.next() == Some("application/json")
            && parts
                .filter_map(|part| part.strip_prefix("charset="))
                .all(|charset| charset.trim_matches('"') == "utf-8")
    };
    all(header::CONTENT_TYPE).all(json)
        && all(header::CONTENT_ENCODING).all(|coding| matches!(coding.as_str(), "" | "identity"))
}

/// Parses `body` as an object; an empty body is an empty object.
fn object(body: &[u8]) -> Result<Map<String, Value>, ErrorCode> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)) {
        Ok(Strict(Value::Object(object))) => Ok(object),
        Ok(_) | Err(_) => Err(ErrorCode::InvalidJson),
    }
}

/// A JSON value without duplicate keys at any depth, in which equal numbers are equal. serde_json itself limits the depth
/// to 127 and rejects invalid UTF-8, lone surrogates and trailing text.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    /// A number such as `1.0` is an integer, too
    /// (<https://json-schema.org/draft/2020-12/json-schema-validation#section-6.1.1>).
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 && value.abs() < i64::MAX as f64 {
            return Ok((value as i64).into());
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, _>()? {
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("duplicate key"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests;
