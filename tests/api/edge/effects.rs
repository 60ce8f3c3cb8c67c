//! GET routes with side effects, and handlers that panic, on a router of their own.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use bytes::Bytes;
use common::{ApiResult, Edge, ErrorCode, Routes, ok};
use http::{Method, Request};
use serde_json::{Value, json};
use tests::World;

#[derive(Clone)]
struct TestRoutes(Edge, Arc<AtomicU32>);

async fn edge() -> TestRoutes {
    let world = World::new().await;
    let done = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&done);
    let change = move || {
        let counter = Arc::clone(&counter);
        async move { ok(json!({ "done": counter.fetch_add(1, Ordering::SeqCst) })) as ApiResult<Value> }
    };
    let routes = Routes::default()
        .effect("/auth/effect", change)
        .post("/auth/effect", || async { ok(json!({})) as ApiResult<Value> })
        .post("/auth/panic", panics)
        .no_store("/auth");
    TestRoutes(Edge::new(world.setup(), routes).unwrap(), done)
}

async fn panics() -> ApiResult<Value> {
    panic!("secret detail of src/some/file.rs")
}

impl TestRoutes {
    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> http::Response<Bytes> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.0.answer(request.body(Bytes::new()).unwrap(), "10.0.0.1".parse().unwrap()).await
    }
}

#[tokio::test]
async fn head_returns_405_and_changes_nothing() {
    let edge = edge().await;
    let answer = edge.send(Method::HEAD, "/api/v1/auth/effect", &[]).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["allow"]),
        (405, &"GET,POST".parse().unwrap())
    );
    assert_eq!(edge.1.load(Ordering::SeqCst), 0);
    assert_eq!(edge.send(Method::POST, "/api/v1/auth/effect", &[]).await.status(), 200);
}

#[tokio::test]
async fn prefetch_returns_403_and_changes_nothing() {
    let edge = edge().await;
    for header in [
        ("sec-purpose", "prefetch"),
        ("sec-purpose", "prefetch;prerender"),
        ("purpose", "Prefetch"),
    ] {
        let answer = edge.send(Method::GET, "/api/v1/auth/effect", &[header]).await;
        assert_eq!(answer.status(), 403);
        assert!(String::from_utf8_lossy(answer.body()).contains(ErrorCode::PrefetchRefused.code()));
    }
    assert_eq!(edge.1.load(Ordering::SeqCst), 0);
    assert_eq!(
        edge.send(Method::GET, "/api/v1/auth/effect", &[("purpose", "navigate")]).await.status(),
        200
    );
    assert_eq!(edge.1.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn get_with_effect_is_never_304_and_never_stored() {
    let edge = edge().await;
    let answer = edge.send(Method::GET, "/api/v1/auth/effect", &[("if-none-match", "*")]).await;
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["cache-control"]),
        (200, &"no-store".parse().unwrap())
    );
}

#[tokio::test]
async fn panic_returns_500_envelope_without_detail() {
    let edge = edge().await;
    for _ in 0..3 {
        let answer = edge.send(Method::POST, "/api/v1/auth/panic", &[]).await;
        assert_eq!(answer.status(), 500);
        let body = String::from_utf8_lossy(answer.body()).into_owned();
        let text = ErrorCode::Internal.text(domain::Language::French);
        assert_eq!(
            body,
            format!(
                r#"{{"code":500,"message":{{"RESPONSE_TEXT":"{text}","RESPONSE_CODE":"INTERNAL_ERROR_MESSAGE"}}}}"#
            )
        );
        assert_eq!(answer.headers()["x-frame-options"], "SAMEORIGIN");
        assert!(answer.headers().contains_key("x-ratelimit-remaining"));
    }
}
