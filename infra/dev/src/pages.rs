//! `/_local`: which page or JSON is at which path. The pages are in `console`. Nothing is served to pages of
//! other origins, except the stand-in for the front end, to which mails link.

mod responses;

use std::{collections::BTreeMap, fmt::Display};

use bytes::Bytes;
use domain::{
    BatchId,
    audit::{Action, AuditEntry},
};
use futures_util::{StreamExt, stream};
use http::{Method, Request, Response, StatusCode, header as header_names};
pub(crate) use responses::redirect;
use responses::{error, html, json_response, response};
use runtime::Clock;
use serde_json::{Value, json};
use store::{AuditList, Setup, Store, StoreError};

use crate::{
    console::{self, Fields, faults, mail, markup, people, service, tables, texts},
    home::LocalSettings,
    reference::Reference,
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
/// The number of newest audit entries that are searched for batches.
const AUDIT_ENTRIES: u16 = 100;

/// The local pages.
#[derive(Clone)]
pub struct Pages {
    cloud: Cloud,
    clock: Clock,
    store: Store,
    about: Value,
    /// The requests to the API, for their page.
    pub(crate) requests: RequestLog,
    reference: Reference,
}

impl Pages {
    /// The pages of `cloud`; `about` describes this process on the state page. The API reference signs in to
    /// `accounts`.
    pub fn new(cloud: Cloud, setup: &Setup, about: Value, accounts: Vec<Value>) -> Self {
        Self {
            reference: Reference::new(accounts),
            cloud,
            clock: setup.clock.clone(),
            store: setup.store.clone(),
            about,
            requests: RequestLog::new(setup.clock.clone()),
        }
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
            return html(StatusCode::OK, FRONT.to_owned(), FRONT_POLICY, "no-referrer");
        }
        if !is_same_origin(request) {
            return json_response(
                StatusCode::FORBIDDEN,
                &json!({ "error": "Not available to pages of other origins." }),
            );
        }
        let answered = match *request.method() {
            Method::GET => self.read(request, path).await,
            Method::POST => self.change(path, &Fields::of(request.body())),
            Method::PUT if path == "/_local/faults" => Some(self.put_faults(request.body())),
            _ => None,
        };
        answered.unwrap_or_else(|| not_found(request))
    }

    async fn read(&self, request: &Request<Bytes>, path: &str) -> Option<Response<Bytes>> {
        if let Some(file) = asset(path) {
            return Some(file);
        }
        if let Some(response) = self.reference.answer(request) {
            return Some(response);
        }
        if let Some(page) = self.page(request, path).await {
            return Some(page);
        }
        self.data(request, path).await
    }

    /// The page of the console at `path`.
    async fn page(&self, request: &Request<Bytes>, path: &str) -> Option<Response<Bytes>> {
        let query = Fields::of(request.uri().query().unwrap_or_default().as_bytes());
        let recorder = self.cloud.recorder();
        let page = match path {
            "/_local" => mail::inbox(recorder, &query),
            "/_local/texts" => texts::list(recorder, &query),
            "/_local/people" => self.people(request).await,
            "/_local/requests" => console::requests::list(&self.requests),
            "/_local/tables" => tables::browser(&self.cloud, &query)
                .unwrap_or_else(|error| markup::rejected(&error.to_string(), path)),
            "/_local/fault-injection" => faults::forms(&self.cloud.faults().left()),
            "/_local/service" => self.service().await,
            _ => {
                let id = path.strip_prefix("/_local/mail/")?.strip_suffix("/html")?;
                let document = mail::document(recorder, id)?;
                return Some(html(StatusCode::OK, document, MAIL_POLICY, "no-referrer"));
            }
        };
        Some(console_page(StatusCode::OK, page))
    }

    /// The JSON at `path`.
    async fn data(&self, request: &Request<Bytes>, path: &str) -> Option<Response<Bytes>> {
        Some(match path {
            "/_local/mail" => list(self.cloud.recorder().newest_mails(limit(request))),
            "/_local/sms" => list(self.cloud.recorder().newest_texts(limit(request))),
            "/_local/batches" => match self.batches().await {
                Ok(batches) => list(batches),
                Err(fault) => error(StatusCode::SERVICE_UNAVAILABLE, fault),
            },
            "/_local/cpanel" => json_response(StatusCode::OK, &self.cloud.uapi().shown()),
            "/_local/state" => json_response(StatusCode::OK, &self.state()),
            "/_local/faults" => self.faults(),
            _ => return None,
        })
    }

    /// Does what the form at `path` is for, and leads back to its page.
    fn change(&self, path: &str, form: &Fields) -> Option<Response<Bytes>> {
        let (page, changed) = match path {
            "/_local/mail/clear" => ("/_local", text_of(self.cloud.recorder().clear_mails())),
            "/_local/sms/clear" => ("/_local/texts", text_of(self.cloud.recorder().clear_texts())),
            "/_local/fault-injection" => ("/_local/fault-injection", self.inject(form)),
            "/_local/fault-injection/clear" => ("/_local/fault-injection", self.clear(form)),
            _ => return None,
        };
        Some(match changed {
            Ok(()) => redirect(StatusCode::SEE_OTHER, page),
            Err(why) => console_page(StatusCode::BAD_REQUEST, markup::rejected(&why, page)),
        })
    }

    /// Adds the fault of `form` to those of the other services.
    fn inject(&self, form: &Fields) -> Result<(), String> {
        let (service, fault) = faults::fault(form)?;
        let mut left = self.cloud.faults().left();
        left.insert(service, fault);
        self.cloud.faults().set(left);
        Ok(())
    }

    /// Clears the fault of the service in `form`; without one everything, as an empty `PUT /_local/faults` does.
    fn clear(&self, form: &Fields) -> Result<(), String> {
        if form.get("service").is_empty() {
            self.cloud.faults().set(BTreeMap::new());
            return Ok(());
        }
        let mut left = self.cloud.faults().left();
        left.remove(&faults::service(form)?);
        self.cloud.faults().set(left);
        Ok(())
    }

    async fn people(&self, request: &Request<Bytes>) -> String {
        let administrator = LocalSettings::of_environment().administrator();
        let host = header(request, "host").unwrap_or("127.0.0.1:9000");
        let people = people::list(&self.store, administrator, &format!("http://{host}")).await;
        people.unwrap_or_else(|fault| markup::rejected(&fault.to_string(), "/_local/people"))
    }

    async fn service(&self) -> String {
        let about = |name: &str| match &self.about[name] {
            Value::Null => "unknown".to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let mut facts = vec![
            ("Service time", self.clock.now().to_string()),
            ("Administrator", about("administrator")),
            ("Data folder", about("dataFolder")),
            ("Process", about("processId")),
            ("Log level", self.requests.level.to_string()),
        ];
        for (table, count) in self.cloud.item_counts() {
            facts.push(("Items", format!("{count} in {table}")));
        }
        // Faults of the store make this page incomplete, and no error.
        let batches = self.batches().await.unwrap_or_default();
        service::overview(&facts, &batches, &self.cloud.uapi().shown())
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

    /// The newest batches with their progress.
    async fn batches(&self) -> Result<Vec<Value>, StoreError> {
        let audit = self
            .store
            .audit(AuditList::All, None, AUDIT_ENTRIES, self.clock.now())
            .await?
            .items
            .into_iter();
        let accepted = audit.filter(|entry| entry.action == Action::BatchAccepted);
        let batches = stream::iter(accepted)
            .then(|AuditEntry { target_id, .. }| self.batch(BatchId::new(target_id)));
        let batches: Vec<_> = batches.collect().await;
        batches.into_iter().filter_map(Result::transpose).collect()
    }

    async fn batch(&self, id: BatchId) -> Result<Option<Value>, StoreError> {
        let Some(batch) = self.store.batch(id).await? else {
            return Ok(None);
        };
        let (mut shown, progress) = (json!(batch), json!(self.store.progress(&batch).await?));
        if let (Some(shown), Some(progress)) = (shown.as_object_mut(), progress.as_object()) {
            shown.extend(progress.clone());
        }
        Ok(Some(shown))
    }

    fn state(&self) -> Value {
        let tables: serde_json::Map<String, Value> = self
            .cloud
            .item_counts()
            .into_iter()
            .map(|(name, count)| (name, count.into()))
            .collect();
        json!({ "now": self.clock.now(), "tables": tables, "faults": self.cloud.faults().left(), "about": self.about })
    }
}

/// The path of the replacement for the front end.
pub const FRONT_PATH: &str = "/_local/front";

/// The value of `?limit=`, at most [`MAX_MESSAGES`], which is also the default.
fn limit(request: &Request<Bytes>) -> usize {
    let query = request.uri().query().unwrap_or_default();
    let limit = query.split('&').find_map(|pair| pair.strip_prefix("limit=")?.parse().ok());
    limit.unwrap_or(MAX_MESSAGES).min(MAX_MESSAGES)
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

/// A page of the console. Its forms send their origin, which a policy of `no-referrer` would hide.
fn console_page(status: StatusCode, page: String) -> Response<Bytes> {
    html(status, page, CONSOLE_POLICY, "same-origin")
}

/// A page for browsers, JSON for others.
fn not_found(request: &Request<Bytes>) -> Response<Bytes> {
    let accepts = header(request, "accept").unwrap_or_default();
    if accepts.contains("text/html") {
        console_page(StatusCode::NOT_FOUND, markup::not_found())
    } else {
        error(StatusCode::NOT_FOUND, "There is no such local page.")
    }
}

/// The text of an error, for a page.
fn text_of<E: Display>(result: Result<(), E>) -> Result<(), String> {
    result.map_err(|error| error.to_string())
}
