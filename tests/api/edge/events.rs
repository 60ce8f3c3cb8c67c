//! Replays the events of `events/` through the code that handles them on Lambda.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tests::{LambdaAnswer as Answer, World};

fn event(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../events").join(name);
    serde_json::from_str(
        &fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
    .unwrap()
}

async fn replay(world: &World, event: Value) -> Answer {
    Answer::to(world.edge(), event).await
}

fn code(answer: &Answer) -> String {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    body["message"]["RESPONSE_CODE"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn sample_event_of_each_route_reaches_its_route() {
    let world = World::new().await;
    let admin = world.admin().await;
    for (name, status, code_then) in [
        ("auth/check.json", 200, ""),
        ("auth/current-user.json", 200, ""),
        ("auth/sessions.json", 200, ""),
        ("auth/end-session.json", 404, "SESSION_NOT_FOUND_MESSAGE"),
        ("auth/login.json", 401, "BAD_AUTH_COMBINATION_MESSAGE"),
        ("users/register.json", 400, "COMMITTEE_INVALID_MESSAGE"),
        ("users/show.json", 404, "USER_NOT_FOUND_MESSAGE"),
        ("users/change-password.json", 200, "PASSWORD_CHANGED_SUCCESS_MESSAGE"),
        ("committees/list.json", 200, ""),
        ("committees/show.json", 404, "COMMITTEE_NOT_FOUND_MESSAGE"),
        ("committees/create.json", 201, "COMMITTEE_CREATED_MESSAGE"),
        ("committees/change.json", 404, "COMMITTEE_NOT_FOUND_MESSAGE"),
        ("fallback/health.json", 200, ""),
        ("auth/logout.json", 200, "LOGOUT_SUCCESS_MESSAGE"),
    ] {
        let mut event = event(name);
        if event["headers"].get("authorization").is_some() {
            event["headers"]["authorization"] = json!(admin.token());
        }
        let answer = replay(&world, event).await;
        assert_eq!(
            (answer.status_code, code(&answer).as_str()),
            (status, code_then),
            "{name}: {}",
            answer.body
        );
        assert_eq!(answer.headers["x-powered-by"], "Halqa", "{name}");
    }
}

#[tokio::test]
async fn image_is_returned_in_base64() {
    let world = World::new().await;
    let answer = replay(&world, event("files/media.json")).await;
    assert!(answer.is_base64_encoded);
    assert!(data_encoding::BASE64.decode(answer.body.as_bytes()).unwrap().starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn odd_events_get_complete_responses() {
    let world = World::new().await;
    let admin = world.admin().await;
    for (name, status, code_then) in [
        ("raw-space-in-query.json", 200, ""),
        ("quotes-in-query.json", 200, ""),
        ("raw-brackets-in-query.json", 200, ""),
        ("ipv6-source.json", 200, ""),
        ("dev-prefix.json", 200, ""),
        ("trailing-slash.json", 200, ""),
        ("encoded-question-mark.json", 404, "USER_NOT_FOUND_MESSAGE"),
        ("encoded-hash.json", 404, "USER_NOT_FOUND_MESSAGE"),
        ("del-in-path.json", 404, "COMMITTEE_NOT_FOUND_MESSAGE"),
        ("dot-segments.json", 404, "NOT_FOUND_MESSAGE"),
        ("no-body.json", 400, "VALIDATION_ERROR_MESSAGE"),
        ("base64-body.json", 401, "BAD_AUTH_COMBINATION_MESSAGE"),
        ("unknown-route.json", 404, "NOT_FOUND_MESSAGE"),
    ] {
        let mut event = event(&format!("odd/{name}"));
        if event["headers"].get("authorization").is_some() {
            event["headers"]["authorization"] = json!(admin.token());
        }
        let answer = replay(&world, event).await;
        assert_eq!(
            (answer.status_code, code(&answer).as_str()),
            (status, code_then),
            "{name}: {}",
            answer.body
        );
        assert!(answer.headers.contains_key("x-request-id"), "{name}");
    }
}

#[tokio::test]
async fn multi_line_header_is_joined_into_one() {
    let world = World::new().await;
    let mut event = event("fallback/health.json");
    event["requestContext"]["http"]["method"] = json!("OPTIONS");
    event["rawQueryString"] = json!(null);
    event["headers"]["access-control-request-headers"] = json!("authorization, content-type");
    let answer = replay(&world, event).await;
    assert_eq!(
        (answer.status_code, answer.headers["access-control-allow-headers"].as_str()),
        (204, "authorization, content-type")
    );
}

#[tokio::test]
async fn malformed_event_returns_400() {
    let world = World::new().await;
    let good = event("auth/check.json");
    for (pointer, value) in [
        ("/requestContext/http/method", json!("GE T")),
        ("/requestContext/http/sourceIp", json!("somewhere")),
    ] {
        let mut event = good.clone();
        *event.pointer_mut(pointer).unwrap() = value;
        let answer = replay(&world, event).await;
        assert_eq!(
            (answer.status_code, code(&answer).as_str()),
            (400, "MALFORMED_REQUEST_MESSAGE")
        );
    }
    let mut event = good;
    event["body"] = json!("no base64 !");
    event["isBase64Encoded"] = json!(true);
    assert_eq!(replay(&world, event).await.status_code, 400);
}
