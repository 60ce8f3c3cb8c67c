//! `/_local`: which page or JSON is at which path. The pages are in `console`. Nothing is served to pages of
//! other origins, except the stand-in for the front end, to which mails link.

pub(crate) mod responses;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header as header_names};
pub(crate) use responses::redirect;
use responses::{error, html, json_response, response};
use serde_json::{Value, json};
use store::{Setup, Store};

use crate::{
    console::{self, Query, mail, markup, people, tables, texts},
    home::LocalSettings,
    reference,
    requests::RequestLog,
};
use cloud::Cloud;

/// The replacement for the front end that links in mails point to.
const FRONT: &str = include_str!("front.html");
const FRONT_STYLE: &str = include_str!("front.css");
const FRONT_SCRIPT: &str = include_str!("front.js");
/// The policy of the front end's replacement, whose forms are sent by its script alone.
const FRONT_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The policy of the console. The frames are mails.
const CONSOLE_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// The policy of a mail: no script, no request, and no access to the console, also when it is opened by itself.
const MAIL_POLICY: &str = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
/// The most messages in a response: the journal is never truncated.
const MAX_MESSAGES: usize = 20_000;

/// The local pages.
#[derive(Clone)]
pub struct Pages {
    cloud: Cloud,
    store: Store,
    /// The requests to the API, for their page.
    pub(crate) requests: RequestLog,
    accounts: Vec<Value>,
}

impl Pages {
    /// The pages of `cloud`. The API reference signs in to `accounts`, which are those of
    /// [`seed::accounts`](crate::seed::accounts).
    pub fn new(cloud: Cloud, setup: &Setup, accounts: Vec<Value>) -> Self {
        let requests = RequestLog::new(setup.clock.clone());
        Self { cloud, store: setup.store.clone(), requests, accounts }
    }

    /// Whether `path` is that of a local page.
    pub(crate) fn serves(path: &str) -> bool {
        path == "/_local" || path.starts_with("/_local/")
    }

    pub(crate) async fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path().trim_end_matches('/');
        let is_get = request.method() == Method::GET;
        // Links in mails come from another site. This page contains no data and does nothing without a click.
        if is_get && (path == FRONT_PATH || path.starts_with("/_local/front/")) {
            return html(StatusCode::OK, FRONT.to_owned(), FRONT_POLICY);
        }
        if !is_same_origin(request) {
            return json_response(
                StatusCode::FORBIDDEN,
                &json!({ "error": "Not available to pages of other origins." }),
            );
        }
        let answered = match *request.method() {
            Method::GET => self.read(request, path).await,
            Method::PUT if path == "/_local/faults" => Some(self.put_faults(request.body())),
            _ => None,
        };
        answered.unwrap_or_else(|| not_found(request))
    }

    async fn read(&self, request: &Request<Bytes>, path: &str) -> Option<Response<Bytes>> {
        if let Some(file) = asset(path).or_else(|| reference::answer(path, &self.accounts)) {
            return Some(file);
        }
        let query = Query::of(request.uri().query().unwrap_or_default());
        let recorder = self.cloud.recorder();
        let page = match path {
            "/_local" => mail::inbox(recorder, query.get("id"), query.get("to")),
            "/_local/texts" => texts::list(recorder),
            "/_local/people" => {
                let administrator = LocalSettings::of_environment().administrator();
                let people = people::list(&self.store, administrator).await;
                people.unwrap_or_else(|fault| markup::failed(&fault.to_string()))
            }
            "/_local/requests" => console::requests::list(&self.requests, query.get("q")),
            "/_local/tables" => tables::browser(&self.cloud, &query)
                .unwrap_or_else(|error| markup::failed(&error.to_string())),
            "/_local/mail" => return Some(list(recorder.newest_mails(limit(&query)))),
            "/_local/sms" => return Some(list(recorder.newest_texts(limit(&query)))),
            "/_local/faults" => return Some(self.faults()),
            _ => {
                let id = path.strip_prefix("/_local/mail/")?.strip_suffix("/html")?;
                let document = mail::document(recorder, id)?;
                return Some(html(StatusCode::OK, document, MAIL_POLICY));
            }
        };
        Some(html(StatusCode::OK, page, CONSOLE_POLICY))
    }

    fn put_faults(&self, body: &[u8]) -> Response<Bytes> {
        match serde_json::from_slice(body) {
            Ok(faults) => {
                self.cloud.faults().set(faults);
                self.faults()
            }
            Err(malformed) => error(StatusCode::BAD_REQUEST, malformed),
        }
    }

    fn faults(&self) -> Response<Bytes> {
        json_response(StatusCode::OK, &json!(self.cloud.faults().left()))
    }
}

/// The path of the replacement for the front end.
pub const FRONT_PATH: &str = "/_local/front";

/// The value of `?limit=`, at most [`MAX_MESSAGES`], which is also the default.
fn limit(query: &Query) -> usize {
    query.get("limit").parse().unwrap_or(MAX_MESSAGES).min(MAX_MESSAGES)
}

fn list(messages: Vec<Value>) -> Response<Bytes> {
    json_response(StatusCode::OK, &Value::Array(messages))
}

fn header<'a>(request: &'a Request<Bytes>, name: &str) -> Option<&'a str> {
    request.headers().get(name).map(|value| value.to_str().unwrap_or("?"))
}

/// Whether `request` comes from a page of this origin, or from no page.
fn is_same_origin(request: &Request<Bytes>) -> bool {
    let is_own_origin = header(request, "origin")
        .is_none_or(|origin| origin.strip_prefix("http://") == header(request, "host"));
    let is_own_site = header(request, "sec-fetch-site")
        .is_none_or(|site| ["same-origin", "none"].contains(&site));
    is_own_origin && is_own_site
}

/// The style sheet or script at `path`.
fn asset(path: &str) -> Option<Response<Bytes>> {
    let (kind, content) = match path {
        "/_local/console.css" => ("text/css; charset=utf-8", console::STYLE),
        "/_local/console.js" => ("text/javascript; charset=utf-8", console::SCRIPT),
        "/_local/front.css" => ("text/css; charset=utf-8", FRONT_STYLE),
        "/_local/front.js" => ("text/javascript; charset=utf-8", FRONT_SCRIPT),
        _ => return None,
    };
    Some(response(StatusCode::OK, content.to_owned(), &[(header_names::CONTENT_TYPE, kind)]))
}

/// A page for browsers, JSON for others.
fn not_found(request: &Request<Bytes>) -> Response<Bytes> {
    let accepts = header(request, "accept").unwrap_or_default();
    if accepts.contains("text/html") {
        html(StatusCode::NOT_FOUND, markup::not_found(), CONSOLE_POLICY)
    } else {
        error(StatusCode::NOT_FOUND, "There is no such local page.")
    }
}
