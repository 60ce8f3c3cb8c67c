//! Bodies: read strictly, then field by field, so that a client hears of all its mistakes at once.

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

use crate::{ApiError, ErrorCode, Fields, Query};

/// What an endpoint takes, read from the body as a JSON object.
#[derive(Debug, Clone)]
pub struct Input<T>(pub T);

/// A type that is read from the fields of a body; `S` is the function's state, whose settings say
/// such things as how long a password must be.
pub trait FromFields<S>: Sized {
    /// No body is longer, in bytes.
    const MAX_BYTES: usize = 102_400;

    /// Reads what is needed; `None` when something was refused, which `fields` has noted.
    fn from_fields(fields: &mut Fields, state: &S) -> Option<Self>;
}

/// Declares what an endpoint takes: the struct, and how each field is read, by a method of [`Fields`]. All of
/// them are read before the first error is returned, so that every bad field is named.
///
/// ```ignore
/// input! {
///     pub(crate) struct SetStatusRequest {
///         is_active: bool = required("isActive", flag),
///     }
/// }
/// ```
#[macro_export]
macro_rules! input {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $method:ident($($argument:expr),*)),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$doc])* $field: $type),*
        }

        impl<S> $crate::FromFields<S> for $name {
            fn from_fields(fields: &mut $crate::Fields, _: &S) -> Option<Self> {
                $(let $field = fields.$method($($argument),*);)*
                Some(Self { $($field: $field?),* })
            }
        }
    };
}

impl<T: FromFields<S>, S: Send + Sync> FromRequest<S> for Input<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, state: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        // One byte more than allowed tells too long from just long enough.
        let body = to_bytes(body, T::MAX_BYTES)
            .await
            .map_err(|_| ErrorCode::PayloadTooLarge)?;
        if !body.is_empty() && !is_plain_json(&parts.headers) {
            return Err(ErrorCode::UnsupportedMediaType.into());
        }
        read(Fields::new(object(&body)?, body), state).map(Self)
    }
}

/// What an endpoint takes, read from the query: every parameter is a text.
#[derive(Debug, Clone)]
pub struct QueryInput<T>(pub T);

impl<T: FromFields<S>, S: Send + Sync> FromRequestParts<S> for QueryInput<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(query) = Query::from_request_parts(parts, state).await;
        read(Fields::new(query.into_object(), Bytes::new()), state).map(Self)
    }
}

fn read<T: FromFields<S>, S>(mut fields: Fields, state: &S) -> Result<T, ApiError> {
    match (T::from_fields(&mut fields, state), fields.into_errors()) {
        (Some(input), errors) if errors.is_empty() => Ok(input),
        (_, errors) => Err(ApiError::fields(errors)),
    }
}

/// `application/json` with or without `charset=utf-8`, or no content type at all; not encoded.
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
            && parts.all(|part| matches!(part, "" | "charset=utf-8" | "charset=\"utf-8\""))
    };
    all(header::CONTENT_TYPE).all(json)
        && all(header::CONTENT_ENCODING).all(|coding| matches!(coding.as_str(), "" | "identity"))
}

/// The object that `body` writes; nothing writes an empty one.
fn object(body: &[u8]) -> Result<Map<String, Value>, ErrorCode> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if body.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Strict(Value::Object(object))) => Ok(object),
        Ok(_) | Err(_) => Err(ErrorCode::InvalidJson),
    }
}

/// Any JSON value without duplicate keys, at any depth. serde_json itself bounds the depth at 127
/// and refuses invalid UTF-8, lone surrogates and trailing text.
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

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("not a finite number"))
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
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests;
