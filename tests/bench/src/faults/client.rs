//! One person's way to the service: real HTTP from an address of his own, to whichever process is up.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use local::chance::Chance;
use serde_json::Value;
use tokio::{
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use crate::known::Outcome;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// One connection in so many is cut by its client.
const CUT_ONE_IN: u64 = 80;

/// The service as everybody sees it, and what was seen of it.
pub(crate) struct Service {
    /// Where its processes listen.
    pub(crate) ports: [u16; 2],
    seen: Mutex<Seen>,
}

#[derive(Default)]
pub(crate) struct Seen {
    /// Requests by status.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Requests that left and were not answered.
    pub(crate) unanswered: u64,
    /// Connections that their clients cut.
    pub(crate) cut: u64,
    /// Answers that are not as all answers are.
    pub(crate) malformed: Vec<String>,
}

impl Service {
    pub(crate) fn new(ports: [u16; 2]) -> Self {
        Self {
            ports,
            seen: Mutex::default(),
        }
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What somebody asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) token: String,
    pub(crate) body: Value,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Ask {
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            ..Self::default()
        }
    }

    pub(crate) fn with(self, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            ..self
        }
    }

    pub(crate) fn json(self, body: Value) -> Self {
        Self { body, ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    /// 0 when no answer came.
    pub(crate) status: u16,
    /// Whether it left at all.
    pub(crate) was_sent: bool,
    /// Whether it says that it was answered before.
    pub(crate) is_replayed: bool,
    pub(crate) body: Value,
}

impl Heard {
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
        self.body["message"]["RESPONSE_CODE"]
            .as_str()
            .unwrap_or_default()
    }

    /// The text at `pointer`, or nothing.
    pub(crate) fn text(&self, pointer: &str) -> String {
        self.body
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }
}

pub(crate) struct Client {
    pub(crate) service: std::sync::Arc<Service>,
    address: Ipv4Addr,
    chance: Chance,
    /// Whether it cuts its own connections now and then.
    pub(crate) cuts: bool,
}

impl Client {
    pub(crate) fn new(service: std::sync::Arc<Service>, address: Ipv4Addr, chance: Chance) -> Self {
        Self {
            service,
            address,
            chance,
            cuts: true,
        }
    }

    /// The same at an address of its own: what goes wrong with one account is not held against the next.
    pub(crate) fn move_to(&mut self, number: usize) {
        let [.., high, low] = (number % 60_000 + 256 * 4).to_be_bytes();
        self.address = Ipv4Addr::new(127, 1, high, low);
    }

    /// Somebody else at the same address.
    pub(crate) fn beside(&mut self) -> Self {
        let chance = Chance::new(self.chance.below(u64::MAX));
        Self {
            service: std::sync::Arc::clone(&self.service),
            address: self.address,
            chance,
            cuts: self.cuts,
        }
    }

    /// The answer to `ask`, whichever process gives it.
    pub(crate) async fn send(&mut self, ask: &Ask) -> Heard {
        let first = usize::from(self.chance.below(2) == 1);
        self.send_to(first, ask).await
    }

    /// The same of the process `first`, unless it is not there.
    pub(crate) async fn send_to(&mut self, first: usize, ask: &Ask) -> Heard {
        let cut = (self.cuts && self.chance.below(CUT_ONE_IN) == 0)
            .then(|| Duration::from_millis(self.chance.below(40)));
        // Somebody is there before long: both are seldom down at once.
        for tries in 0..20 {
            let port = self.service.ports[(first + tries) % 2];
            if let Ok(stream) = self.connect(port).await {
                let heard = timeout(cut.unwrap_or(PATIENCE), talk(stream, ask)).await;
                return self.note(ask, heard.unwrap_or(None), cut.is_some());
            }
            sleep(Duration::from_millis(50)).await;
        }
        Heard::default()
    }

    async fn connect(&self, port: u16) -> std::io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((self.address, 0)))?;
        let stream = socket
            .connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
            .await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn note(&self, ask: &Ask, heard: Option<Heard>, was_cut: bool) -> Heard {
        let mut seen = self.service.seen();
        let Some(heard) = heard else {
            seen.unanswered += 1;
            seen.cut += u64::from(was_cut);
            return Heard {
                was_sent: true,
                ..Heard::default()
            };
        };
        *seen.statuses.entry(heard.status).or_default() += 1;
        let is_told = heard.status < 400 || !heard.code().is_empty();
        let is_whole = heard.body["code"] == heard.status && is_told;
        if (heard.status == 500 || !is_whole) && seen.malformed.len() < 20 {
            seen.malformed.push(format!(
                "{} {}: {} {}",
                ask.method, ask.path, heard.status, heard.body
            ));
        }
        heard
    }
}

/// `None` when the connection broke.
async fn talk(stream: TcpStream, ask: &Ask) -> Option<Heard> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    let request = Request::builder()
        .method(ask.method)
        .uri(format!("/api/v1{}", ask.path))
        .header(header::HOST, "127.0.0.1");
    let mut request = request
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONNECTION, "close");
    if !ask.token.is_empty() {
        request = request.header(header::AUTHORIZATION, &ask.token);
    }
    for (name, value) in &ask.headers {
        request = request.header(*name, value);
    }
    let body = if ask.body.is_null() {
        Bytes::new()
    } else {
        ask.body.to_string().into()
    };
    let request = request.body(Full::new(body)).ok()?;
    let answer = async {
        let response = sender.send_request(request).await.ok()?;
        let (status, is_replayed) = (
            response.status().as_u16(),
            response.headers().contains_key("idempotent-replayed"),
        );
        let body = response.into_body().collect().await.ok()?.to_bytes();
        Some(Heard {
            status,
            was_sent: true,
            is_replayed,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        })
    };
    // Both on this task, so that whoever stops listening closes the connection.
    let (_, answer) = tokio::join!(connection, answer);
    answer
}
