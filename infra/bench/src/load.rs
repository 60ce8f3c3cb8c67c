//! Closed loops of keep-alive clients, each at an address of its own.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use local::Trouble;
use tokio::time::Instant;

const CLIENTS: usize = 8;

/// A request to repeat.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) name: &'a str,
    pub(crate) address: SocketAddr,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) token: &'a str,
    pub(crate) body: &'a str,
    /// How many a round sends.
    pub(crate) requests: usize,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Figures {
    together: Vec<Duration>,
    alone: Vec<Duration>,
    took: Duration,
}

impl Figures {
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        percentile(&self.together, percent)
    }

    /// The median of one client alone.
    pub(crate) fn alone(&self) -> Duration {
        percentile(&self.alone, 50)
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.together.len() as f64 / self.took.as_secs_f64()
    }
}

fn percentile(durations: &[Duration], percent: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort();
    sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
}

/// One round of `target`: eight clients together, then one alone with a tenth as many requests.
pub(crate) async fn run(target: &Target<'_>, figures: &mut Figures) -> Result<(), Trouble> {
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let request = request(target);
            let (requests, client) = (target.requests / CLIENTS, client(number));
            tokio::spawn(async move { repeat(&client, request?, requests).await })
        })
        .collect();
    for client in clients {
        figures.together.extend(client.await.map_err(|error| Trouble::new(error.to_string()))??);
    }
    figures.took += start.elapsed();
    figures.alone.extend(repeat(&client(CLIENTS), request(target)?, (target.requests / 10).max(4)).await?);
    Ok(())
}

type Loopback = Client<HttpConnector, Full<Bytes>>;

fn client(number: usize) -> Loopback {
    let mut connector = HttpConnector::new();
    let last = u8::try_from(number + 1).unwrap_or(1);
    connector.set_local_address(Some(Ipv4Addr::new(127, 0, 1, last).into()));
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).build(connector)
}

fn request(target: &Target<'_>) -> Result<Request<Full<Bytes>>, Trouble> {
    let mut request = Request::builder().method(target.method).uri(format!("http://{}{}", target.address, target.path));
    if !target.token.is_empty() {
        request = request.header(header::AUTHORIZATION, target.token);
    }
    let body = Full::from(target.body.to_owned());
    request.body(body).map_err(|error| Trouble::new(error.to_string()))
}

async fn repeat(client: &Loopback, request: Request<Full<Bytes>>, requests: usize) -> Result<Vec<Duration>, Trouble> {
    let mut durations = Vec::with_capacity(requests);
    for _ in 0..requests {
        let start = Instant::now();
        let answer = client.request(request.clone()).await.map_err(|error| Trouble::new(error.to_string()))?;
        let status = answer.status();
        answer.into_body().collect().await.map_err(|error| Trouble::new(error.to_string()))?;
        durations.push(start.elapsed());
        if status.is_server_error() || status == http::StatusCode::TOO_MANY_REQUESTS {
            return Err(Trouble::new(format!("a request was answered with {status}")));
        }
    }
    Ok(durations)
}
