//! Malformed bodies on endpoints that take a body.

use bytes::Bytes;
use common::ErrorCode;
use http::Method;
use serde_json::json;
use tests::{Person, World};

/// Endpoints that take a body, each with a caller who may use it.
async fn endpoints(world: &World) -> Vec<(Person, Method, String)> {
    let (admin, committee) = (world.admin().await, world.committee());
    vec![
        (world.anonymous(), Method::POST, "/api/v1/auth/login".into()),
        (world.anonymous(), Method::POST, "/api/v1/users/register".into()),
        (world.member().await, Method::PUT, "/api/v1/users/reset-password".into()),
        (admin.clone(), Method::POST, "/api/v1/committees".into()),
        (admin, Method::PUT, format!("/api/v1/committees/{committee}")),
    ]
}

async fn expect(body: impl Into<Bytes>, headers: &[(&str, &str)], error_code: Option<ErrorCode>) {
    let body = body.into();
    let world = World::new().await;
    for (mut person, method, path) in endpoints(&world).await {
        for (name, value) in headers {
            person = person.with(name, value);
        }
        let answer = person.send(method.clone(), &path, body.clone()).await;
        match error_code {
            Some(error_code) => answer.expect_error(error_code),
            // The body was read: 400 for missing fields, 200 where none is required.
            None => assert!(
                answer.code() == ErrorCode::Validation.code() || answer.status == 200,
                "{method} {path}: {answer:?}"
            ),
        }
    }
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

#[tokio::test]
async fn malformed_json_is_rejected() {
    for body in
        ["{", "{\"a\":}", "{'a':1}", "{\"a\":1,}", "nonsense", "{\"a\":1e999}", "{\"a\":01}", " "]
    {
        expect(body, JSON, Some(ErrorCode::InvalidJson)).await;
    }
}

#[tokio::test]
async fn json_other_than_an_object_is_rejected() {
    for body in ["[]", "[\"x\"]", "\"x\"", "null", "true", "12"] {
        expect(body, JSON, Some(ErrorCode::InvalidJson)).await;
    }
}

#[tokio::test]
async fn text_after_the_object_is_rejected() {
    for body in ["{}x", "{}{}", "{} null", "{},"] {
        expect(body, JSON, Some(ErrorCode::InvalidJson)).await;
    }
}

#[tokio::test]
async fn duplicate_keys_are_rejected_at_any_depth() {
    for body in [
        r#"{"email":"a","email":"a"}"#,
        r#"{"x":1,"x":2}"#,
        r#"{"x":{"y":1,"y":1}}"#,
        r#"{"x":[[{"y":1,"\u0079":1}]]}"#,
    ] {
        expect(body, JSON, Some(ErrorCode::InvalidJson)).await;
    }
}

#[tokio::test]
async fn invalid_utf8_and_lone_surrogates_are_rejected() {
    for body in [
        &b"{\"a\":\"\xff\"}"[..],
        b"{\"a\":\"\xc3\"}",
        b"{\"\xed\xa0\x80\":1}",
        br#"{"a":"\ud800"}"#,
        br#"{"\udfff":1}"#,
    ] {
        expect(body, JSON, Some(ErrorCode::InvalidJson)).await;
    }
}

#[tokio::test]
async fn nesting_is_limited_to_127_levels() {
    let deep =
        |levels: usize| format!("{{\"x\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    expect(deep(127), JSON, None).await;
    expect(deep(128), JSON, Some(ErrorCode::InvalidJson)).await;
    expect(format!("{{\"x\":{}", "[".repeat(50_000)), JSON, Some(ErrorCode::InvalidJson)).await;
}

#[tokio::test]
async fn empty_body_of_any_type_is_an_empty_object() {
    expect("", JSON, None).await;
    expect("", &[], None).await;
    expect("", &[("content-type", "text/plain")], None).await;
    expect("", &[("content-encoding", "gzip")], None).await;
}

#[tokio::test]
async fn byte_order_mark_is_accepted() {
    expect("\u{feff}{}", JSON, None).await;
}

#[tokio::test]
async fn body_without_content_type_is_read_as_json() {
    expect("{}", &[], None).await;
    expect("{", &[], Some(ErrorCode::InvalidJson)).await;
}

#[tokio::test]
async fn content_type_other_than_json_returns_415() {
    for kind in
        ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON;CHARSET=UTF-8"]
    {
        expect("{}", &[("content-type", kind)], None).await;
    }
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin1",
        "json",
    ] {
        expect("{}", &[("content-type", kind)], Some(ErrorCode::UnsupportedMediaType)).await;
    }
}

#[tokio::test]
async fn content_encoding_other_than_identity_returns_415() {
    for (coding, error_code) in [
        ("identity", None),
        ("gzip", Some(ErrorCode::UnsupportedMediaType)),
        ("br", Some(ErrorCode::UnsupportedMediaType)),
    ] {
        expect(
            "{}",
            &[("content-type", "application/json"), ("content-encoding", coding)],
            error_code,
        )
        .await;
    }
}

#[tokio::test]
async fn body_is_limited_to_102400_bytes() {
    let padded = |length: usize| format!("{{\"x\":\"{}\"}}", "x".repeat(length - 8));
    expect(padded(102_400), JSON, None).await;
    expect(padded(102_401), JSON, Some(ErrorCode::PayloadTooLarge)).await;
    expect(padded(102_401), &[("content-type", "text/plain")], Some(ErrorCode::PayloadTooLarge))
        .await;
    expect("x".repeat(6_000_000), JSON, Some(ErrorCode::PayloadTooLarge)).await;
}

#[tokio::test]
async fn unauthenticated_caller_gets_401_before_body_errors() {
    let world = World::new().await;
    for (_, method, path) in endpoints(&world).await.into_iter().skip(2) {
        let answer = world.anonymous().send(method, &path, "x".repeat(200_000).into()).await;
        answer.expect_error(ErrorCode::BadAuthCombination);
    }
}

#[tokio::test]
async fn field_error_outside_the_schemas_says_what_would_be_valid() {
    let (world, admin) = World::with_admin().await;
    let text = json!({ "to": "+21620123456", "message": "a" });
    let keyed = admin.with("idempotency-key", &"k".repeat(256));
    let questions = format!("/courses/questions/{}", world.committee());
    let question = json!({ "language": "FR", "question": "Où ?", "questionType": "DROPDOWN", "options": ["a"] });
    for (answer, expected) in [
        (
            admin.post("/sms/single", json!({ "message": "a" })).await,
            json!({ "field": "to", "RESPONSE_TEXT": "Ce champ est obligatoire.", "format": "e164" }),
        ),
        (
            keyed.post("/sms/single", text).await,
            json!({ "field": "Idempotency-Key", "RESPONSE_TEXT": "Ce champ doit contenir entre 1 et 255 caractères.", "min": 1, "max": 255 }),
        ),
        (
            admin.get("/courses/search-all?q=aa+bb+cc+dd+ee+ff").await,
            json!({ "field": "q", "RESPONSE_TEXT": "Ce champ doit contenir entre 1 et 5 éléments.", "min": 1, "max": 5 }),
        ),
        (
            admin.post(&questions, json!({ "questions": [question] })).await,
            json!({ "field": "questions[0].options", "RESPONSE_TEXT": "Ce champ doit contenir entre 2 et 50 éléments.", "min": 2, "max": 50 }),
        ),
        (
            admin.put("/sms/opt-outs/abc", json!({})).await,
            json!({ "field": "number", "RESPONSE_TEXT": "Ce numéro doit être au format international, par exemple +21655000789.", "format": "e164" }),
        ),
        (
            admin.post("/courses", json!({ "courseTitle": "a", "startAt": "demain" })).await,
            json!({ "field": "startAt", "RESPONSE_TEXT": "Ce champ doit être une date ISO 8601, par exemple 2026-11-20T09:30:00Z.", "format": "date-time" }),
        ),
    ] {
        let mut error = answer.json()["errors"][0].clone();
        error.as_object_mut().unwrap().remove("RESPONSE_CODE");
        assert_eq!(error, expected);
    }
}
