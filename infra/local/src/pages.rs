//! `/_local`: pages and JSON for the developer: sent messages, state, faults. They are not served to pages of other
//! origins.

use std::collections::BTreeMap;

use bytes::Bytes;
use domain::{
    BatchId,
    audit::{Action, AuditEntry},
};
use futures_util::{StreamExt, stream};
use http::{HeaderValue, Method, Request, Response, StatusCode, header as header_names};
use runtime::Clock;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Setup, Store, StoreError};

use crate::{
    cloud::Cloud,
    faults::{Fault, Service},
    reference,
    strict::Strictness,
};

const PAGE: &str = include_str!("page.html");
/// The replacement for the front end that links in mails point to.
const FRONT: &str = include_str!("front.html");
/// The most messages in a response: the journal is never truncated.
const MAX_MESSAGES: usize = 20_000;
/// The number of newest audit entries that are searched for batches.
const AUDIT_ENTRIES: u16 = 100;

/// The faults and behaviours of `/_local/faults`.
#[derive(Serialize, Deserialize)]
struct InjectedFaults {
    #[serde(default, skip_serializing_if = "Strictness::is_off")]
    strict: Strictness,
    #[serde(flatten)]
    faults: BTreeMap<Service, Fault>,
}

/// The local pages.
#[derive(Clone)]
pub struct Pages {
    cloud: Cloud,
    clock: Clock,
    store: Store,
    about: Value,
}

impl Pages {
    /// The pages of `cloud`; `about` describes this process on the state page.
    pub fn new(cloud: Cloud, setup: &Setup, about: Value) -> Self {
        Self {
            cloud,
            clock: setup.clock.clone(),
            store: setup.store.clone(),
            about,
        }
    }

    /// Whether `path` is that of a local page.
    pub(crate) fn serves(path: &str) -> bool {
        path == "/_local" || path.starts_with("/_local/")
    }

    pub(crate) async fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let path = request.uri().path().trim_end_matches('/');
        // Links in mails come from another site. This page contains no data and does nothing without a click.
        if request.method() == Method::GET
            && (path == FRONT_PATH || path.starts_with("/_local/front/"))
        {
            return html(FRONT);
        }
        if !is_same_origin(request) {
            return json_response(
                StatusCode::FORBIDDEN,
                &json!({ "error": "Not available to pages of other origins." }),
            );
        }
        if request.method() == Method::GET
            && let Some(response) = reference::answer(path)
        {
            return response;
        }
        match (request.method(), path) {
            (&Method::GET, "/_local") => html(PAGE),
            (&Method::GET, "/_local/mail") => {
                list(self.cloud.recorder().newest_mails(limit(request)))
            }
            (&Method::GET, "/_local/sms") => {
                list(self.cloud.recorder().newest_texts(limit(request)))
            }
            (&Method::GET, "/_local/batches") => match self.batches().await {
                Ok(batches) => list(batches),
                Err(fault) => json_response(
                    StatusCode::SERVICE_UNAVAILABLE,
                    &json!({ "error": fault.to_string() }),
                ),
            },
            (&Method::GET, "/_local/cpanel") => {
                json_response(StatusCode::OK, &self.cloud.uapi().shown())
            }
            (&Method::GET, "/_local/state") => json_response(StatusCode::OK, &self.state()),
            (&Method::GET, "/_local/faults") => self.faults(),
            (&Method::PUT, "/_local/faults") => match serde_json::from_slice(request.body()) {
                Ok(InjectedFaults { strict, faults }) => {
                    self.cloud.faults().set(faults);
                    match self.cloud.set_strictness(strict) {
                        Ok(()) => self.faults(),
                        Err(error) => json_response(
                            StatusCode::INTERNAL_SERVER_ERROR,
                            &json!({ "error": error.to_string() }),
                        ),
                    }
                }
                Err(error) => json_response(
                    StatusCode::BAD_REQUEST,
                    &json!({ "error": error.to_string() }),
                ),
            },
            _ => json_response(
                StatusCode::NOT_FOUND,
                &json!({ "error": "There is no such local page." }),
            ),
        }
    }

    fn faults(&self) -> Response<Bytes> {
        let faults = InjectedFaults {
            strict: self.cloud.strictness(),
            faults: self.cloud.faults().left(),
        };
        json_response(StatusCode::OK, &json!(faults))
    }

    /// The newest batches with their progress.
    async fn batches(&self) -> Result<Vec<Value>, StoreError> {
        let audit = self
            .store
            .audit(None, AUDIT_ENTRIES, self.clock.now())
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
    let limit = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("limit=")?.parse().ok());
    limit.unwrap_or(MAX_MESSAGES).min(MAX_MESSAGES)
}

fn list(messages: Vec<Value>) -> Response<Bytes> {
    json_response(StatusCode::OK, &Value::Array(messages))
}

fn header<'a>(request: &'a Request<Bytes>, name: &str) -> Option<&'a str> {
    request
        .headers()
        .get(name)
        .map(|value| value.to_str().unwrap_or("?"))
}

/// Whether `request` comes from a page of this origin, or from no page.
fn is_same_origin(request: &Request<Bytes>) -> bool {
    let is_own_origin = header(request, "origin")
        .is_none_or(|origin| origin.strip_prefix("http://") == header(request, "host"));
    let is_own_site = header(request, "sec-fetch-site")
        .is_none_or(|site| ["same-origin", "none"].contains(&site));
    is_own_origin && is_own_site
}

fn html(page: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(page.as_bytes()));
    response.headers_mut().insert(
        header_names::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    response.headers_mut().insert(
        header_names::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(policy),
    );
    response.headers_mut().insert(
        header_names::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    response
}

fn json_response(status: StatusCode, value: &Value) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(value.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header_names::CONTENT_TYPE,
        HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response.headers_mut().insert(
        header_names::CACHE_CONTROL,
        HeaderValue::from_static("no-store"),
    );
    response.headers_mut().insert(
        header_names::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}
