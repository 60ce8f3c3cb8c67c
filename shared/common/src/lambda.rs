//! An HTTP function on Lambda behind an API Gateway HTTP API, payload format 2.0
//! (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
//!
//! `lambda_http` converts events to requests and responses to the gateway's format. It panics on some events that
//! gateways do send (a raw space or `<>"` in the query, an unusual Host), so [`Event`] parses and repairs them first.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::{IpAddr, Ipv4Addr},
};

use bytes::Bytes;
use data_encoding::BASE64;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use lambda_http::{
    Adapter, Body, RequestExt, Service, aws_lambda_events::apigw::ApiGatewayV2httpRequest,
    request::LambdaRequest, service_fn,
};
use lambda_runtime::LambdaEvent;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use runtime::{ConfigError, Error, Key, Settings, log_as_json};
use serde::{Deserialize, Serialize};
use store::Setup;

use crate::{
    Edge, Routes,
    content_network::has_content_network,
    edge::{Invocation, UnreadableRequest},
};

/// Percent-encodes everything but `/` and the `pchar` of RFC 3986; `%` is encoded too, as the gateway has decoded
/// the path.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/');
/// Percent-encodes only what a URI cannot contain, as the gateway passes the query on undecoded.
const QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');
/// Bytes of path and query: the `http` crate rejects longer URIs.
const MAX_URI: usize = 65_000;

/// Runs `routes` on Lambda: reads the environment and `keys`, opens connections, and answers events until Lambda ends
/// the process.
///
/// # Errors
/// A [`ConfigError`] when a setting or key is missing or invalid; errors of the Lambda runtime.
pub async fn serve(
    keys: &[Key],
    routes: fn(&Setup) -> Result<Routes, ConfigError>,
) -> Result<(), Error> {
    let settings = Settings::from_environment();
    log_as_json(settings.optional("METRICS_NAMESPACE"));
    let edge = async {
        let mut keys = keys.to_vec();
        if has_content_network(&settings)? {
            keys.push(Key::Edge);
        }
        let setup = Setup::start(settings, &keys).await?;
        Edge::new(&setup, routes(&setup)?)
    };
    let edge =
        edge.await.inspect_err(|problem| tracing::error!(%problem, "the function cannot start"))?;
    // The runtime moves the future between its layers; a box makes that a move of a pointer.
    let answer = |event: LambdaEvent<Event>| Box::pin(answer_event(&edge, event));
    lambda_runtime::run(service_fn(answer)).await
}

/// The fields of an API Gateway event that the service reads. Missing fields are empty, so every event deserialises.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    raw_path: String,
    raw_query_string: Option<String>,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    is_base64_encoded: bool,
    request_context: RequestContext,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct RequestContext {
    http: RequestHttp,
    #[serde(rename = "requestId")]
    request_id: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequestHttp {
    method: String,
    source_ip: String,
}

/// Answers one event. An event that cannot be repaired gets 400 `MALFORMED_REQUEST_MESSAGE`, with all headers and a
/// log line. Never fails.
pub async fn answer_event(
    edge: &Edge,
    event: LambdaEvent<Event>,
) -> Result<impl Serialize + use<>, Infallible> {
    let (event, context) = event.into_parts();
    let invocation = Invocation {
        gateway_id: event.request_context.request_id.clone(),
        lambda_id: context.request_id.clone(),
    };
    let ip = event.request_context.http.source_ip.parse().ok();
    let headers = event.header_map();
    let readable = ip.and_then(|ip: IpAddr| Some((ip, event.repaired()?)));
    let is_readable = readable.is_some();
    let (ip, request) = readable.unwrap_or_else(|| {
        let ip = ip.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        (ip, ApiGatewayV2httpRequest::default())
    });
    let mut adapter = Adapter::from(service_fn(|request: lambda_http::Request| {
        let mut request = restored(request, headers.clone());
        request.extensions_mut().insert(invocation.clone());
        if !is_readable {
            request.extensions_mut().insert(UnreadableRequest);
        }
        async move { Ok(joined_headers(edge.answer(request, ip).await)) }
    }));
    let request = LambdaRequest::ApiGatewayV2(request);
    adapter.call(LambdaEvent::new(request, context)).await
}

impl Event {
    /// The gateway sends headers as UTF-8 text; invalid names and values are dropped.
    fn header_map(&self) -> HeaderMap {
        let headers = self.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::try_from(name).ok()?;
            Some((name, HeaderValue::from_bytes(value.as_bytes()).ok()?))
        });
        headers.collect()
    }

    /// The event in a form on which `lambda_http` does not panic; `None` when it contains no valid request. Headers
    /// are left out, because `lambda_http` builds the URL from some of them.
    fn repaired(self) -> Option<ApiGatewayV2httpRequest> {
        let path = utf8_percent_encode(&self.raw_path, PATH).to_string();
        let query = self.raw_query_string.unwrap_or_default();
        let query = utf8_percent_encode(&query, QUERY).to_string();
        let body = self.body.unwrap_or_default();
        let has_readable_body = !self.is_base64_encoded || BASE64.decode(body.as_bytes()).is_ok();
        if !has_readable_body || !path.starts_with('/') || path.len() + query.len() > MAX_URI {
            return None;
        }
        let mut repaired = ApiGatewayV2httpRequest::default();
        repaired.request_context.http.method =
            Method::from_bytes(self.request_context.http.method.as_bytes()).ok()?;
        repaired.raw_path = Some(path);
        repaired.raw_query_string = Some(query);
        repaired.body = Some(body);
        repaired.is_base64_encoded = self.is_base64_encoded;
        Some(repaired)
    }
}

/// `request` with `headers` and with its original path, in which `lambda_http` has resolved dot segments.
fn restored(request: lambda_http::Request, headers: HeaderMap) -> Request<Bytes> {
    let path = request.raw_http_path();
    let uri = match request.uri().query() {
        Some(query) => format!("{path}?{query}").parse(),
        None => path.parse(),
    };
    let (parts, body) = request.into_parts();
    let mut request = Request::new(match body {
        Body::Text(text) => text.into(),
        Body::Binary(bytes) => bytes.into(),
        _ => Bytes::new(),
    });
    *request.method_mut() = parts.method;
    *request.uri_mut() = uri.unwrap_or_else(|_| Uri::from_static("/"));
    *request.headers_mut() = headers;
    request
}

/// `response` with the values of each header joined by commas: the gateway takes each name once, and `lambda_http`
/// keeps only the first value.
fn joined_headers(response: Response<Bytes>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let mut headers = HeaderMap::with_capacity(parts.headers.keys_len());
    for name in parts.headers.keys() {
        let lines: Vec<&[u8]> =
            parts.headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(line) = HeaderValue::from_bytes(&lines.join(&b", "[..])) {
            headers.insert(name, line);
        }
    }
    parts.headers = headers;
    Response::from_parts(parts, Body::from(body.to_vec()))
}
