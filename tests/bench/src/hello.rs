//! The floor: what an HTTP server that does nothing takes on this machine.

use std::{convert::Infallible, net::SocketAddr};

use axum::{Router, body::Body, response::Response, routing::get};
use http::HeaderValue;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use local::Trouble;
use tokio::net::TcpListener;
use tower::ServiceExt;

/// As many headers, of about the same length, as every answer of ours has.
const HEADERS: [(&str, &str); 24] = [
    ("content-type", "application/json; charset=utf-8"),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("origin-agent-cluster", "?1"),
    ("referrer-policy", "no-referrer"),
    (
        "strict-transport-security",
        "max-age=15552000; includeSubDomains",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-dns-prefetch-control", "off"),
    ("x-download-options", "noopen"),
    ("x-frame-options", "SAMEORIGIN"),
    ("x-permitted-cross-domain-policies", "none"),
    ("x-xss-protection", "0"),
    ("access-control-allow-origin", "*"),
    ("access-control-allow-credentials", "true"),
    (
        "access-control-expose-headers",
        "Authorization, ETag, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-Request-Id",
    ),
    ("x-powered-by", "hello"),
    ("x-request-id", "0198c0de-0000-7000-8000-000000000001"),
    ("etag", "W/\"c-QETVAhUYmmve97quvZif9EL6tqM\""),
    ("x-ratelimit-limit", "100"),
    ("x-ratelimit-remaining", "99"),
    (
        "x-ratelimit-reset",
        "Fri Nov 20 2026 23:46:12 GMT+0000 (Coordinated Universal Time)",
    ),
    ("retry-after", "60"),
    ("keep-alive", "timeout=5"),
];

async fn hello() -> Response {
    let mut response = Response::new(Body::from("{\"code\":200}"));
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Serves the hello on `listener`, and says where that is.
pub(crate) async fn serve(listener: TcpListener) -> Result<SocketAddr, Trouble> {
    let address = listener
        .local_addr()
        .map_err(|error| Trouble::new(error.to_string()))?;
    let router: Router = Router::new().route("/", get(hello));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let router = router.clone();
            let answer = move |request: http::Request<Incoming>| {
                let router = router.clone();
                async move {
                    Ok::<_, Infallible>(
                        router
                            .oneshot(request.map(Body::new))
                            .await
                            .unwrap_or_default(),
                    )
                }
            };
            tokio::spawn(
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)),
            );
        }
    });
    Ok(address)
}
