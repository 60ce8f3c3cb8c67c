//! An HTTP function on Lambda behind an API Gateway HTTP API, payload format 2.0
//! (<https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html>).
//!
//! `lambda_http` makes a request of an event and an event's answer of a response. It panics on some events
//! that gateways do send (a raw space or `<>"` in the query, an odd Host), so [`Event`] reads them first and
//! mends them: only what it has cleaned reaches `lambda_http`.

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
    edge::{Unreadable, has_content_network},
};

/// What stands for itself in a path: `pchar` of RFC 3986 but for `%`, which the gateway has decoded.
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
/// What does not stand for itself in a query, which the gateway gives as it came.
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
/// The `http` crate takes no longer URI.
const LONGEST_URI: usize = 65_000;

/// Runs `routes` on Lambda: reads the environment and the `keys` that it asks for, opens
/// connections, and answers events until the process is ended.
///
/// # Errors
/// A setting that is missing or makes no sense, in one sentence that names it; Lambda's own.
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
    let edge = edge
        .await
        .inspect_err(|problem| tracing::error!(%problem, "the function cannot start"))?;
    // The runtime moves the future from layer to layer: in a box, that moves a pointer.
    let answer = |event: LambdaEvent<Event>| Box::pin(answer_event(&edge, event));
    lambda_runtime::run(service_fn(answer)).await
}

/// The fields of an event that are read. What is missing is empty, so that the event is answered.
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
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequestHttp {
    method: String,
    source_ip: String,
}

/// The answer to one event, however odd it is. One that cannot be mended is 400
/// `MALFORMED_REQUEST_MESSAGE`, with all headers and a line in the log.
///
/// # Errors
/// None.
pub async fn answer_event(
    edge: &Edge,
    event: LambdaEvent<Event>,
) -> Result<impl Serialize + use<>, Infallible> {
    let (event, context) = event.into_parts();
    let ip = event.request_context.http.source_ip.parse().ok();
    let headers = event.header_map();
    let readable = ip.and_then(|ip: IpAddr| Some((ip, event.mended()?)));
    let is_readable = readable.is_some();
    let (ip, request) = readable.unwrap_or_else(|| {
        let ip = ip.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        (ip, ApiGatewayV2httpRequest::default())
    });
    let mut adapter = Adapter::from(service_fn(|request: lambda_http::Request| {
        let mut request = plain(request, headers.clone());
        if !is_readable {
            request.extensions_mut().insert(Unreadable);
        }
        async move { Ok(of_one_line_each(edge.answer(request, ip).await)) }
    }));
    let request = LambdaRequest::ApiGatewayV2(request);
    adapter.call(LambdaEvent::new(request, context)).await
}

impl Event {
    /// The headers. The gateway gives them as text, in UTF-8; what cannot be a header is left out.
    fn header_map(&self) -> HeaderMap {
        let headers = self.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::try_from(name).ok()?;
            Some((name, HeaderValue::from_bytes(value.as_bytes()).ok()?))
        });
        headers.collect()
    }

    /// The event as `lambda_http` reads it without a panic; `None` when it tells of no request. Headers
    /// stay outside, for `lambda_http` would make a URL of some.
    fn mended(self) -> Option<ApiGatewayV2httpRequest> {
        let path = utf8_percent_encode(&self.raw_path, PATH).to_string();
        let query = self.raw_query_string.unwrap_or_default();
        let query = utf8_percent_encode(&query, QUERY).to_string();
        let body = self.body.unwrap_or_default();
        let has_readable_body = !self.is_base64_encoded || BASE64.decode(body.as_bytes()).is_ok();
        if !has_readable_body || !path.starts_with('/') || path.len() + query.len() > LONGEST_URI {
            return None;
        }
        let mut mended = ApiGatewayV2httpRequest::default();
        mended.request_context.http.method =
            Method::from_bytes(self.request_context.http.method.as_bytes()).ok()?;
        mended.raw_path = Some(path);
        mended.raw_query_string = Some(query);
        mended.body = Some(body);
        mended.is_base64_encoded = self.is_base64_encoded;
        Some(mended)
    }
}

/// `request` with `headers`, and with its path as it came: `lambda_http` has resolved dot segments in it.
fn plain(request: lambda_http::Request, headers: HeaderMap) -> Request<Bytes> {
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

/// `response` with each header in one line: the gateway takes each name once, and `lambda_http` keeps the
/// first line only.
fn of_one_line_each(response: Response<Bytes>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    let mut headers = HeaderMap::with_capacity(parts.headers.keys_len());
    for name in parts.headers.keys() {
        let lines: Vec<&[u8]> = parts
            .headers
            .get_all(name)
            .iter()
            .map(HeaderValue::as_bytes)
            .collect();
        if let Ok(line) = HeaderValue::from_bytes(&lines.join(&b", "[..])) {
            headers.insert(name, line);
        }
    }
    parts.headers = headers;
    Response::from_parts(parts, Body::from(body.to_vec()))
}
