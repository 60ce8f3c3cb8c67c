//! The responses of the local pages, with the headers that they have in common.

use std::fmt::Display;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header as header_names};
use serde_json::{Value, json};

/// A redirect with `status` to the local path `target`.
pub(crate) fn redirect(status: StatusCode, target: &'static str) -> Response<Bytes> {
    response(status, String::new(), &[(header_names::LOCATION, target)])
}

/// The page `page` with its policy for content.
pub(super) fn html(status: StatusCode, page: String, policy: &'static str) -> Response<Bytes> {
    let headers = [
        (header_names::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header_names::CONTENT_SECURITY_POLICY, policy),
        (header_names::REFERRER_POLICY, "no-referrer"),
    ];
    response(status, page, &headers)
}

/// The error `text` as JSON.
pub(super) fn error(status: StatusCode, text: impl Display) -> Response<Bytes> {
    json_response(status, &json!({ "error": text.to_string() }))
}

/// The response with `value`.
pub(super) fn json_response(status: StatusCode, value: &Value) -> Response<Bytes> {
    let kind = "application/json; charset=utf-8";
    response(status, value.to_string(), &[(header_names::CONTENT_TYPE, kind)])
}

/// A response that is not cached: the pages change with the program and its data.
pub(crate) fn response(
    status: StatusCode,
    body: impl Into<Bytes>,
    headers: &[(HeaderName, &'static str)],
) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let constant = [
        (header_names::CACHE_CONTROL, "no-store"),
        (header_names::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in headers.iter().chain(&constant).cloned() {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
