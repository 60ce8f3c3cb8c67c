//! The headers of every response: byte for byte those of an Express server with helmet 6, cors and
//! rate-limiter-flexible, which existing clients expect.

use axum::{body::to_bytes, response::Response};
use bytes::Bytes;
use data_encoding::BASE64;
use domain::Instant;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use sha1::{Digest, Sha1};

use crate::{effect::Effect, throttle::RateLimitState};

/// The headers of helmet 6.2.0 without its content security policy, and of cors with `*` and credentials.
const CONSTANT: [(&str, &str); 14] = [
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("origin-agent-cluster", "?1"),
    ("referrer-policy", "no-referrer"),
    ("strict-transport-security", "max-age=15552000; includeSubDomains"),
    ("x-content-type-options", "nosniff"),
    ("x-dns-prefetch-control", "off"),
    ("x-download-options", "noopen"),
    ("x-frame-options", "SAMEORIGIN"),
    ("x-permitted-cross-domain-policies", "none"),
    ("x-xss-protection", "0"),
    ("access-control-allow-origin", "*"),
    ("access-control-allow-credentials", "true"),
];

/// The methods of the API, in the order in which `Allow` and `Access-Control-Allow-Methods` list them.
const METHODS: &str = "GET,HEAD,PUT,PATCH,POST,DELETE";

/// Response headers that scripts of other origins may read.
const EXPOSED: &str = "Authorization, ETag, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Idempotent-Replayed";

/// Sets the headers of every response. An endpoint's own values for those of [`CONSTANT`] stay; those of `Allow` come in
/// the order of their routes and get that of [`METHODS`].
pub(crate) fn set_constant(headers: &mut HeaderMap, powered_by: &HeaderValue, request_id: &str) {
    for (name, value) in CONSTANT {
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.insert(HeaderName::from_static("x-powered-by"), powered_by.clone());
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
    if let Some(allow) = headers.get(header::ALLOW).and_then(ordered) {
        headers.insert(header::ALLOW, allow);
    }
}

/// The methods of `allow` in the order of [`METHODS`].
fn ordered(allow: &HeaderValue) -> Option<HeaderValue> {
    let allowed: Vec<&str> = allow.to_str().ok()?.split(',').map(str::trim).collect();
    let mut methods: Vec<&str> = METHODS.split(',').collect();
    methods.retain(|method| allowed.contains(method));
    HeaderValue::try_from(methods.join(",")).ok()
}

/// Sets the four headers of the rate limit. An existing `Retry-After` belongs to another limit and stays. That of a refusal is
/// in whole seconds, as clients expect it (RFC 9110 §10.2.3).
pub(crate) fn set_limit(status: StatusCode, headers: &mut HeaderMap, rate_limit: &RateLimitState) {
    headers.insert(HeaderName::from_static("x-ratelimit-limit"), rate_limit.limit.into());
    headers.insert(HeaderName::from_static("x-ratelimit-remaining"), rate_limit.remaining.into());
    if let Ok(reset) = HeaderValue::try_from(javascript_date(rate_limit.ends)) {
        headers.insert(HeaderName::from_static("x-ratelimit-reset"), reset);
    }
    let left = rate_limit.ends.since(rate_limit.now).as_millis();
    let is_refused =
        [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&status);
    let left = if is_refused { left.div_ceil(1000) * 1000 } else { left };
    if let Ok(seconds) = HeaderValue::try_from(javascript_seconds(left)) {
        headers.entry(header::RETRY_AFTER).or_insert(seconds);
    }
}

/// JavaScript's `String(new Date())` in UTC.
fn javascript_date(at: Instant) -> String {
    at.timestamp()
        .strftime("%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)")
        .to_string()
}

/// JavaScript's `String(milliseconds / 1000)`.
fn javascript_seconds(milliseconds: u128) -> String {
    let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Sets `ETag` and `Content-Length`, and removes the body for HEAD and 304.
pub(crate) async fn finalized(
    method: &Method,
    request_headers: &HeaderMap,
    response: Response,
) -> http::Response<Bytes> {
    let (parts, body) = response.into_parts();
    // Cannot fail: all bodies are in memory.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut response = http::Response::from_parts(parts, body);
    let length = response.body().len();
    if length > 0 {
        let tag = etag(response.body());
        let is_read = method == Method::GET || method == Method::HEAD;
        let is_not_modified =
            is_read && response.status().is_success() && is_not_modified(request_headers, &tag);
        if let Ok(value) = HeaderValue::try_from(tag) {
            response.headers_mut().insert(header::ETAG, value);
        }
        if is_not_modified && response.extensions().get::<Effect>().is_none() {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            *response.body_mut() = Bytes::new();
            response.headers_mut().remove(header::CONTENT_TYPE);
            response.headers_mut().remove(header::CONTENT_LENGTH);
            return response;
        }
    }
    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    if method == Method::HEAD {
        *response.body_mut() = Bytes::new();
    }
    response
}

/// Express's weak entity tag: the length in hexadecimal and the first 27 characters of the Base64 of the SHA-1.
pub(crate) fn etag(body: &[u8]) -> String {
    let hash = BASE64.encode(&Sha1::digest(body));
    format!("W/\"{:x}-{}\"", body.len(), &hash[..27])
}

/// Whether `If-None-Match` contains `etag` (RFC 9110 §13.1.2) and `Cache-Control` does not contain `no-cache`.
pub(crate) fn is_not_modified(request: &HeaderMap, etag: &str) -> bool {
    let all = |name| request.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let no_cache = all(header::CACHE_CONTROL)
        .flat_map(|value| value.split(','))
        .any(|word| word.trim().eq_ignore_ascii_case("no-cache"));
    !no_cache && all(header::IF_NONE_MATCH).any(|tags| list_contains(tags, etag))
}

/// Whether `If-Match` permits a change of the representation `etag`: the header is absent, or contains the tag or `*`.
/// Our tags are weak, which RFC 9110 §13.1.1 would never match; here weak and strong forms match.
pub fn if_match_holds(request: &HeaderMap, etag: &str) -> bool {
    let mut tags = request.get_all(header::IF_MATCH).iter().peekable();
    tags.peek().is_none()
        || tags.any(|value| value.to_str().is_ok_and(|tags| list_contains(tags, etag)))
}

/// Whether `If-None-Match` permits a change of the representation `etag`: it contains neither the tag nor `*`.
pub fn if_none_match_holds(request: &HeaderMap, etag: &str) -> bool {
    !request
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .any(|value| value.to_str().is_ok_and(|tags| list_contains(tags, etag)))
}

/// Whether the list `tags` is `*` or contains `etag` in its weak or strong form.
pub(crate) fn list_contains(tags: &str, etag: &str) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    // Our tags contain no comma, so the list can be split at commas.
    tags.split(',').any(|tag| tag.trim() == "*" || opaque(tag) == opaque(etag))
}

/// Sets the headers of a preflight response, which cors sends to every OPTIONS request.
pub(crate) fn set_preflight(headers: &mut HeaderMap, request: &HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    for names in request.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.append(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
}

/// `method` for logs; `-` for an extension method, which is a text of the client.
pub(crate) fn name_of(method: &Method) -> &str {
    let mut known = "GET HEAD POST PUT PATCH DELETE OPTIONS".split(' ');
    if known.any(|name| name == method.as_str()) { method.as_str() } else { "-" }
}

#[cfg(test)]
mod tests;
