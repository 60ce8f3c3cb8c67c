//! HTTP client of a user, with its own source address; uses either of the two service processes.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use bytes::Bytes;
use cloud::random::SeededRandom;
use http::{Request, header, response::Parts};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Error, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use tokio::time::{sleep, timeout};

/// Longer than any response takes.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The client cuts one connection in this many.
const CUT_ONE_IN: u64 = 80;

/// The service as its clients see it.
pub(crate) struct Service {
    /// The ports of its processes.
    pub(crate) ports: [u16; 2],
    responses: Mutex<Responses>,
}

/// All responses.
#[derive(Default)]
pub(crate) struct Responses {
    /// By status; 0 for a request that was sent and got no response.
    pub(crate) times: BTreeMap<u16, u64>,
    /// Connections that their clients cut.
    pub(crate) cut: u64,
    /// Responses without an envelope, or with a 500.
    pub(crate) malformed: Vec<String>,
}

impl Service {
    /// With free ports; another process could still take them.
    pub(crate) fn new() -> std::io::Result<Self> {
        let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let (first, second) = (free()?, free()?);
        let ports = [first.local_addr()?.port(), second.local_addr()?.port()];
        Ok(Self { ports, responses: Mutex::default() })
    }

    pub(crate) fn responses(&self) -> MutexGuard<'_, Responses> {
        self.responses.lock().expect("no thread panics with it")
    }
}

/// The outcome of a request, as far as the client knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A 2xx or 3xx response.
    Acknowledged,
    /// A 4xx response, or the request was not sent.
    Refused,
    /// A 5xx response, or none.
    Unknown,
}

/// The values that a field may have: the last acknowledged one, and later ones of unknown outcome.
#[derive(Debug, Clone)]
pub(crate) struct Expected<T>(pub(crate) Vec<T>);

impl<T: Clone + PartialEq> Expected<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(vec![value])
    }

    /// Records a write of `value` with this `outcome`.
    pub(crate) fn write(&mut self, outcome: Outcome, value: T) {
        match outcome {
            Outcome::Acknowledged => self.0 = vec![value],
            Outcome::Refused => {}
            Outcome::Unknown => self.0.push(value),
        }
    }

    pub(crate) fn allows(&self, value: &T) -> bool {
        self.0.contains(value)
    }

    /// Whether only `value` is possible.
    pub(crate) fn is(&self, value: &T) -> bool {
        self.0.iter().all(|one| one == value)
    }

    /// The value, if only one is possible.
    pub(crate) fn exact(&self) -> Option<&T> {
        self.0.first().filter(|first| self.is(first))
    }
}

/// A request such as `GET /files`.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The caller's token; may be empty.
    pub(crate) token: String,
    pub(crate) line: String,
    /// Null for none.
    pub(crate) body: Value,
    pub(crate) header: Option<(&'static str, String)>,
}

impl Call {
    pub(crate) fn new(token: &str, line: &str, body: Value) -> Self {
        Self { token: token.to_owned(), line: line.to_owned(), body, header: None }
    }
}

/// A response, or its absence.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) outcome: Outcome,
    /// 0 if there was no response.
    pub(crate) status: u16,
    /// Whether it is marked as the response to an earlier request.
    pub(crate) is_replayed: bool,
    pub(crate) body: Value,
}

impl Response {
    /// No response.
    pub(crate) const fn none(outcome: Outcome) -> Self {
        Self { outcome, status: 0, is_replayed: false, body: Value::Null }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.outcome == Outcome::Acknowledged
    }

    pub(crate) fn code(&self) -> String {
        self.text("/message/RESPONSE_CODE")
    }

    /// The text at the JSON pointer `pointer`, or an empty string.
    pub(crate) fn text(&self, pointer: &str) -> String {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) service: Arc<Service>,
    pub(crate) address: Ipv4Addr,
    pub(crate) random: SeededRandom,
    /// Whether it cuts some of its own connections.
    pub(crate) cuts: bool,
}

impl Client {
    /// Sends `call` to either process, or to the other one if that is down.
    pub(crate) async fn send(&mut self, call: &Call) -> Response {
        let first = self.random.below(2) as usize;
        let cut = (self.cuts && self.random.below(CUT_ONE_IN) == 0)
            .then(|| Duration::from_millis(self.random.below(40)));
        // Both processes are seldom down at once.
        for tries in 0..20 {
            let request = self.request(self.service.ports[(first + tries) % 2], call);
            let exchange = exchange(Some(self.address), request);
            match timeout(cut.unwrap_or(TIMEOUT), exchange).await {
                Ok(Err(error)) if error.is_connect() => sleep(Duration::from_millis(50)).await,
                Ok(Ok(Some((parts, body)))) => return self.record(call, &parts, &body),
                _ => {
                    let mut all = self.service.responses();
                    *all.times.entry(0).or_default() += 1;
                    all.cut += u64::from(cut.is_some());
                    return Response::none(Outcome::Unknown);
                }
            }
        }
        Response::none(Outcome::Refused)
    }

    fn request(&self, port: u16, call: &Call) -> Request<Full<Bytes>> {
        let (method, path) = call.line.split_once(' ').expect("a method and a path");
        let request =
            Request::builder().method(method).uri(format!("http://127.0.0.1:{port}/api/v1{path}"));
        let mut request = request.header(header::CONTENT_TYPE, "application/json");
        if !call.token.is_empty() {
            request = request.header(header::AUTHORIZATION, &call.token);
        }
        if let Some((name, value)) = &call.header {
            request = request.header(*name, value);
        }
        let body = if call.body.is_null() { String::new() } else { call.body.to_string() };
        request.body(Full::new(body.into())).expect("a valid request")
    }

    fn record(&self, call: &Call, parts: &Parts, body: &Bytes) -> Response {
        let status = parts.status.as_u16();
        let outcome = match status {
            200..=399 => Outcome::Acknowledged,
            400..=499 => Outcome::Refused,
            _ => Outcome::Unknown,
        };
        let is_replayed = parts.headers.contains_key("idempotent-replayed");
        let body = serde_json::from_slice(body).unwrap_or_default();
        let response = Response { outcome, status, is_replayed, body };
        let mut all = self.service.responses();
        *all.times.entry(status).or_default() += 1;
        let has_code = status < 400 || !response.code().is_empty();
        let has_envelope = response.body["code"] == status && has_code;
        if status == 500 || !has_envelope {
            all.malformed.push(format!("{}: {response:?}", call.line));
        }
        response
    }
}

/// The response to `request`, sent from `address` on a connection of its own; `None` if it is incomplete.
pub(crate) async fn exchange(
    address: Option<Ipv4Addr>,
    request: Request<Full<Bytes>>,
) -> Result<Option<(Parts, Bytes)>, Error> {
    let mut connector = HttpConnector::new();
    connector.set_local_address(address.map(Into::into));
    connector.set_nodelay(true);
    let client = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
        .pool_max_idle_per_host(0)
        .retry_canceled_requests(false)
        .build(connector);
    let (parts, body) = client.request(request).await?.into_parts();
    let body = body.collect().await.ok();
    Ok(body.map(|body| (parts, body.to_bytes())))
}
