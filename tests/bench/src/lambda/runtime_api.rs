//! Lambda's Runtime API for one function (<https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html>).

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use bench::trouble;
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use local::Trouble;
use tokio::{
    net::TcpListener,
    sync::{
        Mutex,
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    },
    task::AbortHandle,
    time::{Instant, timeout},
};

/// Longer than anything here takes, a share of a CPU included.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the function does.
enum Deed {
    /// It asks for an event: it is ready.
    Asks(Instant),
    Answers(Instant, Bytes),
    Fails(Bytes),
}

/// It ends when it is dropped.
pub(crate) struct RuntimeApi {
    address: SocketAddr,
    events: UnboundedSender<Bytes>,
    deeds: UnboundedReceiver<Deed>,
    serving: AbortHandle,
}

struct Door {
    events: Mutex<UnboundedReceiver<Bytes>>,
    deeds: UnboundedSender<Deed>,
}

impl RuntimeApi {
    pub(crate) async fn open() -> Result<Self, Trouble> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(trouble)?;
        let address = listener.local_addr().map_err(trouble)?;
        let ((events, waiting), (told, deeds)) = (unbounded_channel(), unbounded_channel());
        let door = Arc::new(Door {
            events: Mutex::new(waiting),
            deeds: told,
        });
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let door = Arc::clone(&door);
                let answer = service_fn(move |request| {
                    let door = Arc::clone(&door);
                    async move { Ok::<_, Infallible>(door.answer(request).await) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
            }
        });
        Ok(Self {
            address,
            events,
            deeds,
            serving: serving.abort_handle(),
        })
    }

    /// What Lambda sets for the function.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let settings = [
            ("AWS_LAMBDA_RUNTIME_API", self.address.to_string().as_str()),
            ("AWS_LAMBDA_FUNCTION_NAME", "measured"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "1"),
            ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"),
            ("AWS_LAMBDA_LOG_GROUP_NAME", "measured"),
            ("AWS_LAMBDA_LOG_STREAM_NAME", "measured"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        settings.to_vec()
    }

    /// When the function asked for its next event.
    pub(crate) async fn asked(&mut self) -> Result<Instant, Trouble> {
        match self.deed().await? {
            Deed::Asks(at) => Ok(at),
            Deed::Answers(..) => Err(Trouble::new("A function answered twice.")),
            Deed::Fails(why) => Err(failed(&why)),
        }
    }

    /// Gives the function, which has asked, `event`: its answer and how long that took.
    pub(crate) async fn call(&mut self, event: &Bytes) -> Result<(Duration, Bytes), Trouble> {
        let start = Instant::now();
        self.events.send(event.clone()).map_err(trouble)?;
        match self.deed().await? {
            Deed::Answers(at, answer) => Ok((at - start, answer)),
            Deed::Asks(_) => Err(Trouble::new("A function left an event without an answer.")),
            Deed::Fails(why) => Err(failed(&why)),
        }
    }

    async fn deed(&mut self) -> Result<Deed, Trouble> {
        let deed = timeout(PATIENCE, self.deeds.recv())
            .await
            .map_err(|_| Trouble::new("A function does not go on."))?;
        deed.ok_or_else(|| Trouble::new("The Runtime API has ended."))
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn failed(why: &[u8]) -> Trouble {
    Trouble::new(format!(
        "A function failed: {}",
        String::from_utf8_lossy(why)
    ))
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, body) = request.into_parts();
        if parts.method == Method::GET && parts.uri.path().ends_with("/invocation/next") {
            let _ = self.deeds.send(Deed::Asks(Instant::now()));
            let event = self.events.lock().await.recv().await.unwrap_or_default();
            let mut response = Response::new(Full::new(event));
            let headers = [
                ("content-type", "application/json"),
                (
                    "lambda-runtime-aws-request-id",
                    "0198c0de-0000-7000-8000-000000000001",
                ),
                ("lambda-runtime-deadline-ms", "4102444800000"),
                (
                    "lambda-runtime-invoked-function-arn",
                    "arn:aws:lambda:eu-west-3:000000000000:function:measured",
                ),
                (
                    "lambda-runtime-trace-id",
                    "Root=1-6b0015c1-0d5e0fdaf7621927ce47fb62;Sampled=0",
                ),
            ];
            for (name, value) in headers {
                response
                    .headers_mut()
                    .insert(name, http::HeaderValue::from_static(value));
            }
            return response;
        }
        let is_answer = parts.uri.path().ends_with("/response");
        let at = Instant::now();
        let body = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes)
            .unwrap_or_default();
        let _ = self.deeds.send(if is_answer {
            Deed::Answers(at, body)
        } else {
            Deed::Fails(body)
        });
        let mut response = Response::new(Full::new(Bytes::from_static(b"{}")));
        *response.status_mut() = StatusCode::ACCEPTED;
        response
    }
}
