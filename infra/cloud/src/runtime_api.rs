//! The Lambda Runtime API for one function (<https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>), for
//! tests and benchmarks of the Lambda binaries.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
    task::AbortHandle,
    time::{Instant, timeout},
};

use crate::{LocalError, connections::next_connection};

const TIMEOUT: Duration = Duration::from_secs(60);
/// The headers of every response; the runtime reads those of `invocation/next`.
const HEADERS: [(&str, &str); 4] = [
    ("lambda-runtime-aws-request-id", "0198c0de-0000-7000-8000-000000000001"),
    ("lambda-runtime-deadline-ms", "4102444800000"),
    (
        "lambda-runtime-invoked-function-arn",
        "arn:aws:lambda:eu-west-3:000000000000:function:measured",
    ),
    ("lambda-runtime-trace-id", "Root=1-6b0015c1-0d5e0fdaf7621927ce47fb62;Sampled=0"),
];

/// A request of the function: time of arrival, path, body, and the channel for the response.
type Received = (Instant, String, Bytes, oneshot::Sender<Bytes>);

/// A running Runtime API. It stops when it is dropped.
pub struct RuntimeApi {
    /// The address, for `AWS_LAMBDA_RUNTIME_API`.
    pub address: SocketAddr,
    requests: mpsc::UnboundedReceiver<Received>,
    waiting: Option<oneshot::Sender<Bytes>>,
    server: AbortHandle,
}

impl RuntimeApi {
    /// Starts the API on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn open() -> Result<Self, LocalError> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .map_err(|error| LocalError::new(error.to_string()))?;
        let address = listener.local_addr().map_err(|error| LocalError::new(error.to_string()))?;
        let (sender, requests) = mpsc::unbounded_channel();
        let server = tokio::spawn(async move {
            loop {
                let (stream, _) = next_connection(&listener).await;
                let sender = sender.clone();
                let service = service_fn(move |request| answer(request, sender.clone()));
                let stream = TokioIo::new(stream);
                tokio::spawn(http1::Builder::new().serve_connection(stream, service));
            }
        });
        Ok(Self { address, requests, waiting: None, server: server.abort_handle() })
    }

    /// Waits until the function asks for its next event.
    ///
    /// # Errors
    /// When the function does not do so within a minute, or reports an initialization error.
    pub async fn wait_for_next(&mut self) -> Result<(), LocalError> {
        let (_, _, reply) = self.receive("/invocation/next").await?;
        self.waiting = Some(reply);
        Ok(())
    }

    /// Invokes the waiting function with `event`; returns the duration and the response.
    ///
    /// # Errors
    /// When the function does not respond within a minute, or reports an error, which the text contains.
    pub async fn call(&mut self, event: &Bytes) -> Result<(Duration, Bytes), LocalError> {
        let start = Instant::now();
        let waiting = self.waiting.take().map(|next| next.send(event.clone()));
        waiting
            .ok_or_else(|| LocalError::new("the function is not ready"))?
            .map_err(|_| LocalError::new("the function closed the connection"))?;
        let (at, body, reply) = self.receive("/response").await?;
        let _ = reply.send(Bytes::from_static(b"{}"));
        Ok((at - start, body))
    }

    async fn receive(
        &mut self,
        end: &str,
    ) -> Result<(Instant, Bytes, oneshot::Sender<Bytes>), LocalError> {
        let request = timeout(TIMEOUT, self.requests.recv())
            .await
            .map_err(|error| LocalError::new(error.to_string()))?;
        let (at, path, body, reply) =
            request.ok_or_else(|| LocalError::new("the Runtime API ended"))?;
        if path.ends_with(end) {
            return Ok((at, body, reply));
        }
        let body = String::from_utf8_lossy(&body);
        Err(LocalError::new(format!("the function called {path}: {body}")))
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    sender: mpsc::UnboundedSender<Received>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (at, path) = (Instant::now(), request.uri().path().to_owned());
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let (reply, answer) = oneshot::channel();
    let _ = sender.send((at, path, body, reply));
    let mut response = Response::new(Full::new(answer.await.unwrap_or_default()));
    for (name, value) in HEADERS {
        let value = http::HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}
