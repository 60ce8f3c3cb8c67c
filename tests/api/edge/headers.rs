//! The headers of every response, value by value.

use bytes::Bytes;
use cloud::faults::{Fault, Mode};
use common::ErrorCode;
use domain::Instant;
use http::Method;
use serde_json::json;
use tests::{Answer, World};

const CONSTANT: [(&str, &str); 17] = [
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("origin-agent-cluster", "?1"),
    ("referrer-policy", "no-referrer"),
    ("strict-transport-security", "max-age=15552000; includeSubDomains"),
    ("x-content-type-options", "nosniff"),
    ("x-dns-prefetch-control", "off"),
    ("x-download-options", "noopen"),
    ("x-frame-options", "SAMEORIGIN"),
    ("x-permitted-cross-domain-policies", "none"),
    ("x-xss-protection", "0"),
    ("access-control-allow-origin", "*"),
    ("access-control-allow-credentials", "true"),
    ("x-powered-by", "Halqa"),
    ("content-type", "application/json; charset=utf-8"),
    (
        "access-control-expose-headers",
        "Authorization, ETag, Retry-After, WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Idempotent-Replayed",
    ),
];

fn has_all_headers(answer: &Answer) {
    for (name, value) in CONSTANT {
        assert_eq!(answer.header(name), value, "{name} of {answer:?}");
        assert_eq!(answer.headers.get_all(name).iter().count(), 1, "{name} once");
    }
    assert_eq!(answer.header("x-ratelimit-limit"), "100");
    assert!(
        !answer.header("x-ratelimit-remaining").is_empty()
            && !answer.header("retry-after").is_empty()
    );
    assert!(answer.header("x-ratelimit-reset").ends_with(" GMT+0000 (Coordinated Universal Time)"));
    assert_eq!(answer.header("x-request-id").len(), 36);
    assert_eq!(answer.header("content-length"), answer.body.len().to_string());
    assert!(answer.header("etag").starts_with(&format!("W/\"{:x}-", answer.body.len())));
}

#[tokio::test]
async fn constant_headers_are_on_every_status() {
    let world = World::new().await;
    let (admin, member) = (world.admin().await, world.member().await);
    let too_long = Bytes::from("x".repeat(102_401));
    let text = member.with("content-type", "text/plain");
    let mut answers = vec![
        admin.get("/auth/check").await,
        world.anonymous().post("/auth/login", json!({})).await,
        world.anonymous().get("/auth/check").await,
        member.post("/committees", json!({})).await,
        member.get("/nowhere").await,
        member.delete("/auth/check").await,
        member.send(Method::PUT, "/api/v1/users/reset-password", too_long).await,
        text.send(Method::PUT, "/api/v1/users/reset-password", "x".into()).await,
    ];
    let committee = json!({
        "nameArabe": "أ", "nameLatin": "A", "type": "X", "dateOfEst": "2000-01-01", "region": "A", "city": "A",
        "postalCode": 1, "primaryEmail": "a@example.org", "primaryPhone": "+21671123456",
    });
    answers.push(admin.post("/committees", committee).await);
    world.inject_fault(Fault::hot_key());
    answers.push(world.anonymous().get("/committees").await);
    world.inject(Mode::Refuse);
    answers.push(world.anonymous().get("/committees").await);
    world.clear_faults();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 400, 401, 403, 404, 405, 413, 415, 201, 429, 503]);
    answers.iter().for_each(has_all_headers);
}

#[tokio::test]
async fn powered_by_header_is_configurable() {
    let world = World::with(&[("POWERED_BY", "Fédération".replace('é', "e").as_str())]).await;
    assert_eq!(world.anonymous().get("/health").await.header("x-powered-by"), "Federation");
}

#[tokio::test]
async fn reset_and_retry_after_are_the_same_instant() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    let first = anonymous.get("/committees").await;
    assert_eq!(first.header("retry-after"), "60");
    world.clock().advance(std::time::Duration::from_millis(1_160));
    let second = anonymous.get("/committees").await;
    assert_eq!(second.header("x-ratelimit-reset"), first.header("x-ratelimit-reset"));
    let seconds: f64 = second.header("retry-after").parse().unwrap();
    assert!(seconds < 58.85 && seconds > 50.0, "{seconds}");
    let reset = second.header("x-ratelimit-reset");
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = reset.split(' ').collect();
    let month = months.iter().position(|month| *month == words[1]).unwrap() + 1;
    let parsed: Instant =
        format!("{}-{month:02}-{}T{}Z", words[3], words[2], words[4]).parse().unwrap();
    let ends = world.clock().now().unix_milliseconds() as f64 / 1000.0 + seconds;
    assert!((ends - parsed.unix_seconds() as f64) < 2.0);
}

#[tokio::test]
async fn matching_etag_returns_304_without_body() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    let first = anonymous.get("/committees").await;
    let tag = first.header("etag").to_owned();
    for value in [
        tag.clone(),
        tag.trim_start_matches("W/").to_owned(),
        "*".to_owned(),
        format!("\"a\", {tag}, \"b\""),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let answer = anonymous
                .with("if-none-match", &value)
                .send(method, "/api/v1/committees", Bytes::new())
                .await;
            assert_eq!((answer.status, answer.body.len()), (304, 0));
            assert!(
                !answer.headers.contains_key("content-type")
                    && !answer.headers.contains_key("content-length")
            );
            assert_eq!(answer.header("etag"), tag);
            for (name, value) in CONSTANT.iter().filter(|(name, _)| *name != "content-type") {
                assert_eq!(answer.header(name), *value);
            }
            assert!(!answer.header("x-ratelimit-remaining").is_empty());
        }
    }
    let fresh = anonymous
        .with("if-none-match", &tag)
        .with("cache-control", "no-cache")
        .get("/committees")
        .await;
    assert_eq!(fresh.status, 200);
    assert_eq!(anonymous.with("if-none-match", "\"other\"").get("/committees").await.status, 200);
}

#[tokio::test]
async fn page_that_has_a_next_cursor_keeps_its_etag() {
    let world = World::new().await;
    for name in ["Sfax", "Sousse"] {
        world.another_committee(name, true).await;
    }
    let (anonymous, path) = (world.anonymous(), "/committees?limit=1");
    let first = anonymous.get(path).await;
    assert!(first.expect_ok()["nextCursor"].is_string());
    let head = anonymous.send(Method::HEAD, &format!("/api/v1{path}"), Bytes::new()).await;
    assert_eq!(head.header("etag"), first.header("etag"));
    assert_eq!(anonymous.with("if-none-match", first.header("etag")).get(path).await.status, 304);
}

#[tokio::test]
async fn error_or_write_is_never_304() {
    let world = World::new().await;
    let everything = world.anonymous().with("if-none-match", "*");
    everything.get("/auth/check").await.expect_unauthorized();
    everything.get("/nowhere").await.expect_error(ErrorCode::NotFound);
    everything.post("/auth/login", json!({})).await.expect_error(ErrorCode::Validation);
}

#[tokio::test]
async fn personal_responses_are_no_store_public_lists_are_not() {
    let (world, member) = World::with_member().await;
    let user = format!("/users/{}", member.user().user_id);
    for path in [
        "/auth/check",
        "/auth/nowhere",
        "/users/x",
        &user,
        "/otp/nowhere",
        "/sms",
        "/team/x",
        "/files/my-files",
    ] {
        assert_eq!(member.get(path).await.header("cache-control"), "no-store", "{path}");
    }
    let admin = world.admin().await;
    for path in ["/audit", "/sms/opt-outs", "/cpanel/db"] {
        assert_eq!(admin.get(path).await.header("cache-control"), "no-store", "{path}");
    }
    assert_eq!(member.get("/committees").await.header("cache-control"), "");
}

#[tokio::test]
async fn each_response_has_its_own_request_id() {
    let world = World::new().await;
    let anonymous = world.anonymous().with("x-request-id", "mine");
    let (one, other) = (anonymous.get("/committees").await, anonymous.get("/committees").await);
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
    assert_ne!(one.header("x-request-id"), "mine");
}
