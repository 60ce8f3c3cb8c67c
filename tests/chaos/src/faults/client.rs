//! HTTP client of a user, with its own source address; uses either of the two service processes.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bench::service::{body_bytes, text};
use bytes::Bytes;
use cloud::random::SeededRandom;
use http::{HeaderMap, Request, header, request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use crate::expected::Outcome;

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
    pub(crate) by_status: BTreeMap<u16, u64>,
    /// Requests that were sent and got no response.
    pub(crate) unanswered: u64,
    /// Connections that their clients cut.
    pub(crate) cut: u64,
    /// Responses without an envelope, or with a 500.
    pub(crate) malformed: Vec<String>,
}

impl Service {
    pub(crate) fn new(ports: [u16; 2]) -> Self {
        let responses = Mutex::default();
        Self { ports, responses }
    }

    pub(crate) fn responses(&self) -> MutexGuard<'_, Responses> {
        self.responses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request to the service.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    method: &'static str,
    path: String,
    token: String,
    body: Value,
    headers: Vec<(&'static str, String)>,
}

impl Call {
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        let path = path.into();
        Self { method, path, ..Self::default() }
    }

    pub(crate) fn with(mut self, token: &str) -> Self {
        self.token = token.to_owned();
        self
    }

    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = body;
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A response, or its absence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Response {
    /// 0 if there was no response.
    pub(crate) status: u16,
    /// Whether the request was sent.
    was_sent: bool,
    /// Whether it is marked as the response to an earlier request.
    pub(crate) is_replayed: bool,
    pub(crate) body: Value,
}

impl Response {
    /// A sent request without a response.
    pub(crate) fn unanswered() -> Self {
        Self { was_sent: true, ..Self::default() }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self.status {
            200..=399 => Outcome::Acknowledged,
            400..=499 => Outcome::Refused,
            0 if !self.was_sent => Outcome::Refused,
            _ => Outcome::Unknown,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.outcome() == Outcome::Acknowledged
    }

    pub(crate) fn code(&self) -> &str {
        let code = &self.body["message"]["RESPONSE_CODE"];
        code.as_str().unwrap_or_default()
    }

    /// The text at the JSON pointer `pointer`, or an empty string.
    pub(crate) fn text(&self, pointer: &str) -> String {
        self.body.pointer(pointer).map(text).unwrap_or_default()
    }
}

pub(crate) struct Client {
    service: Arc<Service>,
    address: Ipv4Addr,
    random: SeededRandom,
    /// Whether it cuts some of its own connections.
    pub(crate) cuts: bool,
}

impl Client {
    pub(crate) fn new(service: Arc<Service>, address: Ipv4Addr, random: SeededRandom) -> Self {
        Self { service, address, random, cuts: true }
    }

    /// Changes the source address, so that failed sign-ins of one account do not count for the next.
    pub(crate) fn move_to(&mut self, number: usize) {
        let [.., high, low] = (number % 60_000 + 256 * 4).to_be_bytes();
        self.address = Ipv4Addr::new(127, 1, high, low);
    }

    /// A second client at the same address.
    pub(crate) fn fork(&mut self) -> Self {
        let random = SeededRandom::new(self.random.below(u64::MAX));
        Self { cuts: self.cuts, ..Self::new(Arc::clone(&self.service), self.address, random) }
    }

    /// Sends `call` to either process.
    pub(crate) async fn send(&mut self, call: &Call) -> Response {
        let first = usize::from(self.random.below(2) == 1);
        self.send_to(first, call).await
    }

    /// Sends `call` to the process `first`, or to the other one if that is down.
    pub(crate) async fn send_to(&mut self, first: usize, call: &Call) -> Response {
        let cut = (self.cuts && self.random.below(CUT_ONE_IN) == 0)
            .then(|| Duration::from_millis(self.random.below(40)));
        // Both processes are seldom down at once.
        for tries in 0..20 {
            let port = self.service.ports[(first + tries) % 2];
            if let Ok(stream) = self.connect(port).await {
                let response = timeout(cut.unwrap_or(TIMEOUT), exchange(stream, call)).await;
                return self.record(call, response.unwrap_or(None), cut.is_some());
            }
            sleep(Duration::from_millis(50)).await;
        }
        Response::default()
    }

    async fn connect(&self, port: u16) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((self.address, 0)))?;
        let service = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let stream = socket.connect(service).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn record(&self, call: &Call, response: Option<Response>, was_cut: bool) -> Response {
        let mut all = self.service.responses();
        let Some(response) = response else {
            all.unanswered += 1;
            all.cut += u64::from(was_cut);
            return Response::unanswered();
        };
        *all.by_status.entry(response.status).or_default() += 1;
        let has_code = response.status < 400 || !response.code().is_empty();
        let has_envelope = response.body["code"] == response.status && has_code;
        if (response.status == 500 || !has_envelope) && all.malformed.len() < 20 {
            let (status, body) = (response.status, &response.body);
            let line = format!("{} {}: {status} {body}", call.method, call.path);
            all.malformed.push(line);
        }
        response
    }
}

/// `None` if the connection failed.
async fn exchange(stream: TcpStream, call: &Call) -> Option<Response> {
    let request = Request::builder().method(call.method);
    let request = request.uri(format!("/api/v1{}", call.path));
    let mut request = request.header(header::CONTENT_TYPE, "application/json");
    if !call.token.is_empty() {
        request = request.header(header::AUTHORIZATION, &call.token);
    }
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let body = body_bytes(&call.body);
    let (status, headers, body) = http1_call(stream, request, "127.0.0.1", body).await?;
    Some(Response {
        status,
        was_sent: true,
        is_replayed: headers.contains_key("idempotent-replayed"),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

/// Sends one request on `stream` and closes it.
async fn http1_call(
    stream: TcpStream,
    request: request::Builder,
    host: &str,
    body: Bytes,
) -> Option<(u16, HeaderMap, Bytes)> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let request = request.header(header::HOST, host);
    let request = request.header(header::CONNECTION, "close");
    let request = request.body(Full::new(body)).ok()?;
    let answer = async {
        let response = sender.send_request(request).await.ok()?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.ok()?.to_bytes();
        Some((parts.status.as_u16(), parts.headers, body))
    };
    // Both run on this task, so that dropping it closes the connection.
    tokio::join!(connection, answer).1
}

/// The status and body of a response of the bucket at `url`; `None` if there was none.
pub(crate) async fn call_bucket(
    url: &str,
    request: request::Builder,
    body: String,
) -> Option<(u16, Bytes)> {
    let uri: http::Uri = url.parse().ok()?;
    let host = uri.authority()?.as_str();
    let request = request.uri(uri.path_and_query()?.as_str());
    let call = async {
        let stream = TcpStream::connect(host).await.ok()?;
        http1_call(stream, request, host, body.into()).await
    };
    let answer = timeout(Duration::from_secs(10), call).await.ok().flatten();
    answer.map(|(status, _, body)| (status, body))
}
