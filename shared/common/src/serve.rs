//! A function on Lambda behind an API Gateway HTTP API, payload format 2.0
//! (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
//!
//! The event is read by ourselves, seven fields of it: `lambda_http` panics before any route on a
//! query with a raw space or `<>"{}|^`, and takes `rawPath`, which the gateway delivers *decoded*,
//! for a path, so that `/users/me%3Fx` would become a query and `%23` cut it off.

use std::{collections::BTreeMap, net::IpAddr};

#[cfg(feature = "lambda")]
use axum::Router;
use axum::response::IntoResponse;
use bytes::Bytes;
use data_encoding::BASE64;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
#[cfg(feature = "lambda")]
use lambda_runtime::{LambdaEvent, service_fn};
#[cfg(feature = "lambda")]
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[cfg(feature = "lambda")]
use crate::{BadSetting, Key, Setup, log_as_json, settings::environment};
use crate::{Edge, Failure, Refusal};

/// Connections that one request uses side by side: for the limit, and for whoever calls.
pub const CONNECTIONS: usize = 2;

/// Runs `routes` on Lambda: reads the environment and the `keys` that it asks for, opens
/// connections, and answers events until the process is ended.
///
/// # Errors
/// A setting that is missing or makes no sense, in one sentence that names it.
#[cfg(feature = "lambda")]
pub async fn serve(
    keys: &[Key],
    routes: fn(&Setup) -> Result<Router, BadSetting>,
) -> Result<(), lambda_runtime::Error> {
    log_as_json(environment("METRICS_NAMESPACE"));
    let edge = async {
        let setup = Setup::start(keys, CONNECTIONS, &environment).await?;
        Edge::new(&setup, routes(&setup)?)
    };
    let edge = edge
        .await
        .inspect_err(|problem| tracing::error!(%problem, "the function cannot start"))?;
    // In a box, for the runtime hands what it waits for from layer to layer, and a request is some ten thousand bytes.
    let answer = |event: LambdaEvent<Event>| {
        Box::pin(async { Ok::<_, lambda_runtime::Error>(answer_event(&edge, event.payload).await) })
    };
    lambda_runtime::run(service_fn(answer)).await
}

/// Runs what `make` makes on Lambda without HTTP: opens `connections` to the tables, and has `handle` answer
/// events of `E` until the process is ended. What `handle` fails with fails the invocation, which Lambda counts.
///
/// # Errors
/// A setting that is missing or makes no sense, in one sentence that names it.
#[cfg(feature = "lambda")]
pub async fn serve_events<T, E, A, F>(
    keys: &[Key],
    connections: usize,
    make: fn(&Setup) -> Result<T, BadSetting>,
    handle: fn(T, E) -> F,
) -> Result<(), lambda_runtime::Error>
where
    T: Clone,
    E: DeserializeOwned,
    A: Serialize,
    F: Future<Output = Result<A, lambda_runtime::Error>>,
{
    log_as_json(environment("METRICS_NAMESPACE"));
    let made = async { make(&Setup::start(keys, connections, &environment).await?) };
    let made = made
        .await
        .inspect_err(|problem| tracing::error!(%problem, "the function cannot start"))?;
    let answer = |event: LambdaEvent<E>| Box::pin(handle(made.clone(), event.payload));
    lambda_runtime::run(service_fn(answer)).await
}

/// What we read of an event.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    #[serde(default)]
    raw_path: String,
    #[serde(default)]
    raw_query_string: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
    request_context: RequestContext,
}

#[derive(Debug, Clone, Deserialize)]
struct RequestContext {
    http: RequestHttp,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestHttp {
    method: String,
    source_ip: String,
}

/// What the gateway takes back.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The status.
    pub status_code: u16,
    /// The headers, each name once.
    pub headers: BTreeMap<String, String>,
    /// The body, in base64 when it is no text.
    pub body: String,
    /// Whether it is.
    pub is_base64_encoded: bool,
    /// None; `cargo lambda watch` wants to be told so.
    pub cookies: [String; 0],
}

/// The answer to one event, however odd it is.
pub async fn answer_event(edge: &Edge, event: Event) -> Answer {
    let response = match request(event) {
        Some((request, ip)) => edge.answer(request, ip).await,
        None => {
            let (parts, body) = Failure::from(Refusal::MalformedRequest)
                .into_response()
                .into_parts();
            http::Response::from_parts(
                parts,
                axum::body::to_bytes(body, usize::MAX)
                    .await
                    .unwrap_or_default(),
            )
        }
    };
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes());
        // The gateway takes each name once: what stands in several lines stands in one there.
        headers
            .entry(name.to_string())
            .and_modify(|line| *line = format!("{line}, {value}"))
            .or_insert_with(|| value.into_owned());
    }
    let status_code = response.status().as_u16();
    match String::from_utf8(response.into_body().into()) {
        Ok(body) => Answer {
            status_code,
            headers,
            body,
            is_base64_encoded: false,
            cookies: [],
        },
        Err(bytes) => Answer {
            status_code,
            headers,
            body: BASE64.encode(bytes.as_bytes()),
            is_base64_encoded: true,
            cookies: [],
        },
    }
}

/// The request that `event` tells of; `None` when it tells of none.
fn request(event: Event) -> Option<(http::Request<Bytes>, IpAddr)> {
    let path = encoded(&event.raw_path, |byte| {
        byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte)
    });
    let query = encoded(
        event.raw_query_string.as_deref().unwrap_or_default(),
        |byte| byte.is_ascii_graphic() && !b"\"<>`{}|\\^#".contains(&byte),
    );
    let uri = if query.is_empty() {
        path
    } else {
        format!("{path}?{query}")
    };
    let body = match event.body {
        None => Bytes::new(),
        Some(body) if event.is_base64_encoded => BASE64.decode(body.as_bytes()).ok()?.into(),
        Some(body) => body.into(),
    };
    let mut headers = HeaderMap::new();
    for (name, value) in event.headers {
        // Header values may be any bytes but control characters; the gateway gives them as text.
        if let (Ok(name), Ok(value)) = (
            HeaderName::try_from(name),
            HeaderValue::from_bytes(value.as_bytes()),
        ) {
            headers.append(name, value);
        }
    }
    let mut request = http::Request::new(body);
    *request.method_mut() =
        Method::from_bytes(event.request_context.http.method.as_bytes()).ok()?;
    *request.uri_mut() = uri.parse::<Uri>().ok()?;
    *request.headers_mut() = headers;
    Some((request, event.request_context.http.source_ip.parse().ok()?))
}

/// `text` with every byte that is not `plain` percent-encoded.
fn encoded(text: &str, plain: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
