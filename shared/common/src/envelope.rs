//! The JSON envelope of every response: `{code, message, …, errors}`.

use std::{borrow::Cow, fmt, time::Duration};

use axum::response::{IntoResponse, Response};
use domain::Language;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::{ErrorCode, FieldError, Message};

/// Longest body in bytes: Lambda limits the response around it to 6 MB
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
const MAX_BYTES: usize = 5_000_000;

#[derive(Serialize)]
struct Envelope<'a, T> {
    code: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
    #[serde(flatten)]
    data: T,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [FieldError],
}

#[derive(Serialize)]
pub(crate) struct Text {
    #[serde(rename = "RESPONSE_TEXT")]
    text: Cow<'static, str>,
    #[serde(rename = "RESPONSE_CODE")]
    code: &'static str,
}

impl From<ErrorCode> for Text {
    fn from(code: ErrorCode) -> Self {
        Self { text: code.text(Language::default()).into(), code: code.code() }
    }
}

impl Text {
    /// The text of `code`, which says how long to wait.
    pub(crate) fn with_wait(code: ErrorCode, wait: Duration) -> Self {
        Self { text: code.text_with_wait(wait, Language::default()).into(), code: code.code() }
    }
}

impl From<Message> for Text {
    fn from(message: Message) -> Self {
        Self { text: message.text(Language::default()).into(), code: message.code() }
    }
}

/// Response data without fields: the body has only `code` and `message`.
#[derive(Debug, Serialize)]
pub struct Empty {}

/// Serialises a body. `message` is left out when it is `None`, `errors` when it is empty.
pub(crate) fn body<T: Serialize>(
    status: StatusCode,
    message: Option<Text>,
    data: T,
    errors: &[FieldError],
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Envelope { code: status.as_u16(), message, data, errors })
}

/// The response with [`body`]; 500 when `data` cannot be serialised, or is too large.
pub(crate) fn envelope<T: Serialize>(
    status: StatusCode,
    message: Option<Text>,
    data: T,
    errors: &[FieldError],
) -> Response {
    let body = match body(status, message, data, errors) {
        Ok(body) if body.len() <= MAX_BYTES => Ok(body),
        Ok(body) => Err(format!("the response would have {} bytes", body.len())),
        Err(error) => Err(error.to_string()),
    };
    match body {
        Ok(body) => {
            let json = HeaderValue::from_static("application/json; charset=utf-8");
            (status, [(header::CONTENT_TYPE, json)], body).into_response()
        }
        Err(error) => {
            let code = ErrorCode::Internal;
            let mut response = envelope(code.status(), Some(code.into()), Empty {}, &[]);
            response.extensions_mut().insert(Cause(error));
            response
        }
    }
}

/// A response extension: the cause of a 500 or 503, which the edge logs.
#[derive(Clone)]
pub(crate) struct Cause(pub(crate) String);

impl fmt::Debug for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn response_that_is_too_large_becomes_an_internal_error() {
        let of = |length: usize| {
            let data = BTreeMap::from([("x", "x".repeat(length))]);
            envelope(StatusCode::OK, None, data, &[])
        };
        let frame = r#"{"code":200,"x":""}"#.len();
        let largest = of(MAX_BYTES - frame);
        assert_eq!(
            (largest.status(), largest.extensions().get::<Cause>().is_some()),
            (StatusCode::OK, false)
        );
        let refused = of(MAX_BYTES - frame + 1);
        assert_eq!(
            (refused.status(), refused.extensions().get::<Cause>().is_some()),
            (StatusCode::INTERNAL_SERVER_ERROR, true)
        );
    }
}
