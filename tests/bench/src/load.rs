//! Keep-alive clients, each at an address of its own, and what their times add up to.

use std::{
    error::Error,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use local::Trouble;
use tokio::time::{Instant, timeout};

use crate::trouble;

/// Nobody waits longer: then a Lambda function has come to its end, too.
const PATIENCE: Duration = Duration::from_secs(10);
/// What the service promises of an idle connection, and a little less.
const IDLE: Duration = Duration::from_secs(4);

/// One client with connections of its own, which stay open.
pub struct Client(legacy::Client<HttpConnector, Full<Bytes>>);

/// What came back.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The body, whole.
    pub body: Bytes,
    /// From the first byte that left to the last that came.
    pub took: Duration,
}

impl Client {
    /// The client with this number, which calls from 127.0.0.1 and the addresses after it.
    pub fn new(number: usize) -> Self {
        let mut connector = HttpConnector::new();
        let [.., third, last] = u32::try_from(number + 1).unwrap_or(1).to_be_bytes();
        connector.set_local_address(Some(Ipv4Addr::new(127, 0, third, last).into()));
        connector.set_nodelay(true);
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        // A connection that is cut is seen, and not made good in silence.
        builder
            .retry_canceled_requests(false)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE);
        Self(builder.build(connector))
    }

    /// The answer to `request`.
    ///
    /// # Errors
    /// When none came in ten seconds, or half of one.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, Trouble> {
        let start = Instant::now();
        let answered = async {
            let answer = self
                .0
                .request(request)
                .await
                .map_err(|error| cause(&error))?;
            let status = answer.status();
            let body = answer
                .into_body()
                .collect()
                .await
                .map_err(|error| cause(&error))?
                .to_bytes();
            Ok(Answer {
                status,
                body,
                took: start.elapsed(),
            })
        };
        timeout(PATIENCE, answered)
            .await
            .map_err(|_| Trouble::new("no answer came in ten seconds"))?
    }
}

/// The innermost of what `error` tells.
fn cause(error: &dyn Error) -> Trouble {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    trouble(innermost)
}

/// A request to the service at `address`; an empty `token` is none.
///
/// # Errors
/// When `method`, `path` or `token` are malformed.
pub fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Result<Request<Full<Bytes>>, Trouble> {
    let mut request = Request::builder()
        .method(method)
        .uri(format!("http://{address}{path}"));
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, token);
    }
    request.body(Full::from(body.to_owned())).map_err(trouble)
}

/// That which `percent` of `durations` do not exceed.
pub fn percentile(durations: &[Duration], percent: usize) -> Duration {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    sorted
        .get(sorted.len().saturating_sub(1) * percent / 100)
        .copied()
        .unwrap_or_default()
}

/// `duration` in milliseconds.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
