//! `/_local`: what a person on a laptop looks at. Served to this machine alone, and not to pages of
//! other origins: no CORS, and only under a name of this machine.

use bytes::Bytes;
use common::Clock;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::cloud::Cloud;

const PAGE: &str = include_str!("page.html");

/// The local pages.
#[derive(Clone)]
pub struct Pages {
    cloud: Cloud,
    clock: Clock,
    about: Value,
}

impl Pages {
    /// The pages of `cloud`; `about` is what the state page says of this process.
    pub const fn new(cloud: Cloud, clock: Clock, about: Value) -> Self {
        Self { cloud, clock, about }
    }

    /// Whether `path` is a local page.
    pub(crate) fn are_at(path: &str) -> bool {
        path == "/_local" || path.starts_with("/_local/")
    }

    pub(crate) fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        if !is_of_this_machine(request) {
            return json_response(
                StatusCode::FORBIDDEN,
                &json!({ "error": "Only under 127.0.0.1 or localhost, and not from pages of other origins." }),
            );
        }
        match (request.method(), request.uri().path().trim_end_matches('/')) {
            (&Method::GET, "/_local") => html(PAGE),
            // Nothing is sent yet: these stay empty until messages are.
            (&Method::GET, "/_local/mail" | "/_local/sms") => json_response(StatusCode::OK, &json!([])),
            (&Method::GET, "/_local/state") => json_response(StatusCode::OK, &self.state()),
            (&Method::GET, "/_local/faults") => self.faults(),
            (&Method::PUT, "/_local/faults") => match serde_json::from_slice(request.body()) {
                Ok(faults) => {
                    self.cloud.faults().set(faults);
                    self.faults()
                }
                Err(error) => json_response(StatusCode::BAD_REQUEST, &json!({ "error": error.to_string() })),
            },
            _ => json_response(StatusCode::NOT_FOUND, &json!({ "error": "There is no such local page." })),
        }
    }

    fn faults(&self) -> Response<Bytes> {
        json_response(StatusCode::OK, &json!(self.cloud.faults().left()))
    }

    fn state(&self) -> Value {
        let tables: serde_json::Map<String, Value> =
            self.cloud.item_counts().into_iter().map(|(name, count)| (name, count.into())).collect();
        json!({ "now": self.clock.now(), "tables": tables, "faults": self.cloud.faults().left(), "about": self.about })
    }
}

/// A name that a browser was tricked into resolving to this machine is not this machine's, and a
/// page of another origin says so.
fn is_of_this_machine(request: &Request<Bytes>) -> bool {
    let text = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    let Some(host) = text("host") else { return false };
    let (name, port) = host.split_once(':').unwrap_or((host, "80"));
    let is_named = ["127.0.0.1", "localhost"].contains(&name) && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_own_origin = text("origin").is_none_or(|origin| origin.strip_prefix("http://") == Some(host));
    let is_own_site = text("sec-fetch-site").is_none_or(|site| ["same-origin", "none"].contains(&site));
    is_named && is_own_origin && is_own_site
}

fn html(page: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(page.as_bytes()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'";
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

fn json_response(status: StatusCode, value: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
