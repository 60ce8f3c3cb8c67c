//! `/_local`: what a person on a laptop looks at. Served to this machine alone, and not to pages of
//! other origins: no CORS, and only under a name of this machine.

use bytes::Bytes;
use common::Clock;
use http::{HeaderValue, Method, Request, Response, StatusCode, header as header_names};
use serde_json::{Value, json};

use crate::cloud::Cloud;

const PAGE: &str = include_str!("page.html");
/// Stands in for the front end that links in mails lead to.
const FRONT: &str = include_str!("front.html");
/// No list is longer: the journal itself never shrinks.
const MOST_SHOWN: usize = 200;

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
        let path = request.uri().path().trim_end_matches('/');
        // A link in a mail comes from another site. The page holds nothing and does nothing by itself.
        if request.method() == Method::GET && (path == FRONT_PATH || path.starts_with("/_local/front/")) && is_named_locally(request) {
            return html(FRONT);
        }
        if !is_of_this_machine(request) {
            return json_response(
                StatusCode::FORBIDDEN,
                &json!({ "error": "Only under 127.0.0.1 or localhost, and not from pages of other origins." }),
            );
        }
        match (request.method(), path) {
            (&Method::GET, "/_local") => html(PAGE),
            (&Method::GET, "/_local/mail") => newest(self.cloud.recorder().mails()),
            (&Method::GET, "/_local/sms") => newest(self.cloud.recorder().texts()),
            (&Method::GET, "/_local/cpanel") => json_response(StatusCode::OK, &self.cloud.uapi().shown()),
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

/// Where the stand-in for the front end is.
pub const FRONT_PATH: &str = "/_local/front";

fn newest(mut messages: Vec<Value>) -> Response<Bytes> {
    messages.truncate(MOST_SHOWN);
    json_response(StatusCode::OK, &Value::Array(messages))
}

fn header<'a>(request: &'a Request<Bytes>, name: &str) -> Option<&'a str> {
    request.headers().get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// A name that a browser was tricked into resolving to this machine is not this machine's.
fn is_named_locally(request: &Request<Bytes>) -> bool {
    let (name, port) = header(request, "host").map_or(("", ""), |host| host.split_once(':').unwrap_or((host, "80")));
    ["127.0.0.1", "localhost"].contains(&name) && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// The same, and a page of another origin says so.
fn is_of_this_machine(request: &Request<Bytes>) -> bool {
    let is_own_origin = header(request, "origin").is_none_or(|origin| origin.strip_prefix("http://") == header(request, "host"));
    let is_own_site = header(request, "sec-fetch-site").is_none_or(|site| ["same-origin", "none"].contains(&site));
    is_named_locally(request) && is_own_origin && is_own_site
}

fn html(page: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(page.as_bytes()));
    response.headers_mut().insert(header_names::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    response.headers_mut().insert(header_names::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response.headers_mut().insert(header_names::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn json_response(status: StatusCode, value: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header_names::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    response.headers_mut().insert(header_names::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(header_names::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
