//! The last requests to the API, their responses, and what each cost in the store. The cost is that of one request even
//! if others run at the same time: the edge measures it in a task-local meter (`store::metered`).

use std::{
    collections::VecDeque,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use common::{Edge, bearer};
use data_encoding::BASE64URL_NOPAD;
use http::{HeaderMap, Request, Response};
use runtime::Clock;
use serde_json::Value;
use store::Requests;
use tokio::sync::Semaphore;

/// The number of requests that are kept.
const KEPT: usize = 200;
/// Bodies above this size, in bytes, are pictures.
const LARGE: usize = 500_000;

/// An answered request. The query is left out, because it can contain codes.
#[derive(Debug, Clone)]
pub(crate) struct AnsweredRequest {
    pub(crate) at: domain::Instant,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    pub(crate) store: Option<Requests>,
    /// `RESPONSE_CODE`; empty without one.
    pub(crate) code: String,
    /// The account of the token, which may be invalid; empty without one.
    pub(crate) caller: String,
    /// `X-Request-Id`.
    pub(crate) id: String,
}

/// The claim `sub` of the token in `headers`, which is not verified.
fn claimed_caller(headers: &HeaderMap) -> Option<String> {
    let claims = bearer(headers)?.split('.').nth(1)?;
    let claims: Value =
        serde_json::from_slice(&BASE64URL_NOPAD.decode(claims.as_bytes()).ok()?).ok()?;
    claims["sub"].as_str().map(str::to_owned)
}

/// The `RESPONSE_CODE` of `response`.
fn code_of(response: &Response<Bytes>) -> Option<String> {
    let body: Value = serde_json::from_slice(response.body()).ok()?;
    body["message"]["RESPONSE_CODE"].as_str().map(str::to_owned)
}

/// The last requests. Clones share them.
#[derive(Clone)]
pub(crate) struct RequestLog {
    clock: Clock,
    /// Permits for requests with large bodies.
    large: Arc<Semaphore>,
    requests: Arc<Mutex<VecDeque<AnsweredRequest>>>,
}

impl RequestLog {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, large: Arc::new(Semaphore::new(2)), requests: Arc::default() }
    }

    /// The response of `edge` to `request` from `ip`, which is recorded.
    pub(crate) async fn answer(
        &self,
        edge: &Edge,
        request: Request<Bytes>,
        ip: IpAddr,
    ) -> Response<Bytes> {
        let (at, start) = (self.clock.now(), Instant::now());
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let caller = claimed_caller(request.headers()).unwrap_or_default();
        // On Lambda a process answers one request at a time. Here several pictures of 180 MB would be decoded at once.
        let is_large = request.body().len() > LARGE;
        let _permit = if is_large { self.large.acquire().await.ok() } else { None };
        let response = edge.answer(request, ip).await;
        let store = response.extensions().get::<Requests>();
        let answered = AnsweredRequest {
            at,
            method,
            path,
            status: response.status().as_u16(),
            took: start.elapsed(),
            store: store.copied(),
            code: code_of(&response).unwrap_or_default(),
            caller,
            id: response
                .headers()
                .get("x-request-id")
                .map_or("", |id| id.to_str().unwrap_or_default())
                .to_owned(),
        };
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push_front(answered);
        requests.truncate(KEPT);
        drop(requests);
        response
    }

    /// The last requests, newest first.
    pub(crate) fn newest_first(&self) -> Vec<AnsweredRequest> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.iter().cloned().collect()
    }
}
