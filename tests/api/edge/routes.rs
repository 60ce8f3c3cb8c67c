//! Routing: prefixes, methods, HEAD, preflight and unknown paths.

use bytes::Bytes;
use common::ErrorCode;
use http::Method;
use tests::{Document, World};

async fn send(world: &World, method: &str, path: &str) -> tests::Answer {
    world.anonymous().send(method.parse().unwrap(), path, Bytes::new()).await
}

#[tokio::test]
async fn both_prefixes_and_one_trailing_slash_are_accepted() {
    let world = World::new().await;
    for path in [
        "/api/v1/committees",
        "/api/dev/committees",
        "/api/v1/committees/",
        "/api/dev/committees/",
        "/api/v1/committees/?limit=5",
    ] {
        assert_eq!(send(&world, "GET", path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn escaped_unreserved_characters_of_a_path_are_read() {
    let world = World::new().await;
    for (path, status) in [
        ("/api/v1/%63ommittees", 200),
        ("/%61pi/v1/committees", 200),
        ("/api/v1/committees%2F", 404),
        ("/api/v1%2Fcommittees", 404),
        ("/api/v1/committee%", 404),
    ] {
        // Not through the kit, which finds no such path in the document.
        let mut request = http::Request::new(Bytes::new());
        *request.uri_mut() = path.parse().unwrap();
        let answer = world.edge().answer(request, [203, 0, 113, 9].into()).await;
        assert_eq!(answer.status().as_u16(), status, "{path}");
    }
}

#[tokio::test]
async fn any_other_path_returns_404_envelope() {
    let world = World::new().await;
    for path in [
        "/",
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v2/committees",
        "/committees",
        "/api/v1/committees//",
        "/api/v1//committees",
        "/API/v1/committees",
        "/api/v1/Committees",
        "/api/v1/auth",
        "/api/v1/auth/login/x",
        "/api/v1/auth/%63heck/x",
        "/api/v1/../v1/committees",
        "/api/v1/auth/./check",
        "/api/v1/media/default.png",
        "/media",
        "/media/",
        "/media/x/y",
        "/api/v1x/committees",
        "/healthz",
        "/api/v1/api/v1/committees",
        "/api/v1/committees%2f",
        "/api/v1/auth%2fcheck",
        "/favicon.ico",
    ] {
        send(&world, "GET", path).await.expect_error(ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn prefixes_are_configurable() {
    let world = World::with(&[("API_PREFIXES", "/api/v1")]).await;
    assert_eq!(send(&world, "GET", "/api/v1/committees").await.status, 200);
    send(&world, "GET", "/api/dev/committees/1").await.expect_error(ErrorCode::NotFound);
}

#[tokio::test]
async fn unsupported_method_returns_405_with_allow() {
    let world = World::new().await;
    for (method, path, allow) in [
        ("HEAD", "/api/v1/auth/login", "POST"),
        ("DELETE", "/api/v1/auth/check", "GET,HEAD"),
        ("HEAD", "/api/v1/users/reset-password", "GET,PUT,POST"),
        ("HEAD", "/api/v1/auth/passwordless", "GET,POST"),
        ("HEAD", "/api/v1/otp/generate", "GET"),
        ("PURGE", "/api/v1/health", "GET,HEAD"),
        ("TRACE", "/media/default.png", "GET,HEAD"),
    ] {
        let answer = send(&world, method, path).await;
        if method != "HEAD" {
            answer.expect_error(ErrorCode::MethodNotAllowed);
        }
        assert_eq!(answer.status, 405, "{method} {path}");
        assert_eq!(answer.header("allow"), allow, "{method} {path}");
    }
}

#[tokio::test]
async fn allow_lists_methods_of_every_path_in_one_order() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    for (template, item) in Document::get().root()["paths"].as_object().unwrap() {
        // HEAD is allowed where a GET has no effect, so that it can be 304.
        let head = &item["get"]["responses"]["304"];
        let allow: Vec<&str> = ["get", "head", "put", "patch", "post", "delete"]
            .into_iter()
            .filter(|method| item.get(method).is_some() || (*method == "head" && !head.is_null()))
            .collect();
        let path = template.replace(['{', '}'], "x");
        let prefix = if path.starts_with("/media") { "" } else { "/api/v1" };
        let answer = send(&world, "PATCH", &format!("{prefix}{path}")).await;
        answer.expect_error(ErrorCode::MethodNotAllowed);
        assert_eq!(answer.header("allow"), allow.join(",").to_uppercase(), "{path}");
    }
}

#[tokio::test]
async fn head_is_get_without_body() {
    let world = World::new().await;
    for path in [
        "/api/v1/committees",
        "/api/v1/auth/check",
        "/api/v1/nowhere",
        "/api/v1/health",
        "/media/default.png",
    ] {
        let (get, head) = (send(&world, "GET", path).await, send(&world, "HEAD", path).await);
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{path}");
        for name in ["content-type", "content-length", "etag", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
}

#[tokio::test]
async fn preflight_is_answered_on_any_path() {
    let world = World::new().await;
    for path in ["/api/v1/auth/login", "/api/v1/nowhere", "/", "/media/default.png"] {
        let asking = world
            .anonymous()
            .with("origin", "https://example.org")
            .with("access-control-request-method", "PUT")
            .with("access-control-request-headers", "authorization, content-type");
        let answer = asking.send(Method::OPTIONS, path, Bytes::new()).await;
        assert_eq!((answer.status, answer.body.len()), (204, 0));
        for (name, value) in [
            ("content-length", "0"),
            ("access-control-allow-origin", "*"),
            ("access-control-allow-methods", "GET,HEAD,PUT,PATCH,POST,DELETE"),
            ("access-control-allow-headers", "authorization, content-type"),
            ("vary", "Access-Control-Request-Headers"),
            ("access-control-max-age", "600"),
            ("x-powered-by", "Halqa"),
        ] {
            assert_eq!(answer.header(name), value, "{path}");
        }
        assert!(!answer.headers.contains_key("x-ratelimit-limit"));
    }
}

#[tokio::test]
async fn health_returns_version_without_store_access() {
    let world = World::new().await;
    world.inject(cloud::faults::Mode::Refuse);
    for path in ["/health", "/api/v1/health", "/api/dev/health/"] {
        let answer = send(&world, "GET", path).await;
        let body = answer.expect_ok();
        assert_eq!(body["version"], env!("CARGO_PKG_VERSION"));
        assert!(body["commit"].is_null(), "the World has no commit");
        assert_eq!(answer.cost.requests, 0);
    }
}

#[tokio::test]
async fn health_returns_the_commit_that_the_packages_are_of() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let world = World::with(&[("COMMIT", commit)]).await;
    assert_eq!(send(&world, "GET", "/health").await.expect_ok()["commit"], commit);
}
