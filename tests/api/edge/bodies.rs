//! Malformed bodies on endpoints that take a body.

use bytes::Bytes;
use common::{ErrorCode, Message};
use domain::Profile;
use http::Method;
use serde_json::json;
use tests::{Document, Person, World};

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

/// `shared/common/src/input/tests.rs` has more texts and types.
#[tokio::test]
async fn body_that_is_no_plain_json_object_is_rejected() {
    let gzip = ("content-encoding", "gzip");
    let (invalid, unsupported) = (ErrorCode::InvalidJson, ErrorCode::UnsupportedMediaType);
    for (body, headers, error_code) in [
        ("{}", JSON, None),
        ("{}", &[], None),
        ("\u{feff}{}", JSON, None),
        ("", &[("content-type", "text/plain")], None),
        ("", &[gzip], None),
        ("{", JSON, Some(invalid)),
        ("{", &[], Some(invalid)),
        ("[]", JSON, Some(invalid)),
        ("{} null", JSON, Some(invalid)),
        (r#"{"x":{"y":1,"y":1}}"#, JSON, Some(invalid)),
        (r#"{"a":"\ud800"}"#, JSON, Some(invalid)),
        ("{}", &[("content-type", "application/x-www-form-urlencoded")], Some(unsupported)),
        ("{}", &[("content-type", "multipart/form-data; boundary=x")], Some(unsupported)),
        ("{}", &[JSON[0], gzip], Some(unsupported)),
    ] {
        expect(body, headers, error_code).await;
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

/// Each operation on courses, questions and registrations that takes a body.
#[tokio::test]
async fn bodies_of_courses_questions_and_registrations_may_be_longer() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let admin = world.admin().await;
    let paths = Document::get().root()["paths"].as_object().unwrap();
    let mut tried = 0;
    for (path, item) in paths {
        let max = match path.as_str() {
            path if path.starts_with("/courses/questions/") || path.ends_with("/sessions") => {
                524_288
            }
            path if path.starts_with("/courses") || path.starts_with("/registrations") => 262_144,
            _ => continue,
        };
        let path: Vec<&str> =
            path.split('/')
                .map(|one| {
                    if one.starts_with('{') { "0198c0de-0000-7000-8000-000000000001" } else { one }
                })
                .collect();
        let path = format!("/api/v1{}", path.join("/"));
        for method in [Method::POST, Method::PUT] {
            if item[method.as_str().to_lowercase()]["requestBody"].is_null() {
                continue;
            }
            tried += 1;
            for (length, is_too_large) in [(max, false), (max + 1, true)] {
                let body = format!("{{\"x\":\"{}\"}}", "x".repeat(length - 8));
                let answer = admin.send(method.clone(), &path, body.into()).await;
                assert_eq!(
                    answer.status == 413,
                    is_too_large,
                    "{method} {path} {length}: {answer:?}"
                );
            }
        }
    }
    assert!(tried >= 12, "{tried}");
}

#[tokio::test]
async fn longest_texts_fit_also_when_every_letter_is_escaped() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let escaped =
        |text: &str| text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let body = format!(
        r#"{{"courseTitle":"Un","description":"{}","price":1.0}}"#,
        escaped(&"م".repeat(20_000))
    );
    let created = trainer.json().send(Method::POST, "/api/v1/courses", body.into()).await;
    let id = created.expect_success(Message::CourseCreated)["course"]["courseID"].clone();
    let question = format!(
        r#"{{"language":"AR","questionType":"LONG_REPLY","question":"{}"}}"#,
        escaped(&"م".repeat(1_000))
    );
    let body = format!(r#"{{"questions":[{}]}}"#, vec![question; 50].join(","));
    let path = format!("/api/v1/courses/questions/{}", id.as_str().unwrap());
    let added = trainer.json().send(Method::POST, &path, body.into()).await.expect_ok();
    let option = |number: u32| format!(r#""{}{number:02}""#, escaped(&"😀".repeat(198)));
    let options: Vec<String> = (0..50).map(option).collect();
    let body = format!(
        r#"{{"language":"AR","questionType":"DROPDOWN","question":"?!","options":[{}]}}"#,
        options.join(",")
    );
    let path = format!("{path}/{}", added["questions"][0]["questionID"].as_str().unwrap());
    trainer.json().send(Method::PUT, &path, body.into()).await.expect_ok();
    let file = r#"{"name":"a.pdf","contentType":"application/PDF; x=y","size":1e1}"#;
    let file = trainer.json().send(Method::POST, "/api/v1/files", file.into()).await;
    assert_eq!(file.expect_created()["file"]["contentType"], "application/pdf");
    let admin = world.admin().await;
    let text = json!({ "to": "+21620123456", "message": "م".repeat(1600) });
    admin.post("/sms/single", text).await.expect_ok();
}

#[tokio::test]
async fn unauthenticated_caller_gets_401_before_body_errors() {
    let world = World::new().await;
    for (_, method, path) in endpoints(&world).await.into_iter().skip(2) {
        let answer = world.anonymous().send(method, &path, "x".repeat(200_000).into()).await;
        answer.expect_unauthorized();
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
            json!({ "field": "q", "RESPONSE_TEXT": "Ce champ doit contenir entre 1 et 5 mots.", "min": 1, "max": 5 }),
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
        (
            admin.post("/courses", json!({ "courseTitle": "a", "startAt": "2026-11-20T09:30:00+01:00", "endAt": "2026-11-20" })).await,
            json!({ "field": "endAt", "RESPONSE_TEXT": "La fin doit être après le début.", "format": "date-time", "min": "2026-11-20T08:30:00.000Z" }),
        ),
        (
            admin.post("/courses", json!({ "courseTitle": "a", "price": 0.125, "currency": "EUR" })).await,
            json!({ "field": "price", "RESPONSE_TEXT": "Ce nombre a au plus 2 décimales.", "min": 0, "max": 9_999_999_999.999, "decimals": 2 }),
        ),
        (
            admin.post("/courses", json!({ "courseTitle": "a", "price": 0.0125 })).await,
            json!({ "field": "price", "RESPONSE_TEXT": "Ce nombre a au plus 3 décimales.", "min": 0, "max": 9_999_999_999.999, "decimals": 3 }),
        ),
        (
            admin.post("/courses", json!({ "courseTitle": "a", "price": "0" })).await,
            json!({ "field": "price", "RESPONSE_TEXT": "Ce champ doit être un nombre.", "min": 0, "max": 9_999_999_999.999, "decimals": 3 }),
        ),
    ] {
        let mut error = answer.json()["errors"][0].clone();
        error.as_object_mut().unwrap().remove("RESPONSE_CODE");
        assert_eq!(error, expected);
    }
}

#[tokio::test]
async fn error_of_a_usual_mistake_says_how_the_value_is_written() {
    let (_, admin) = World::with_admin().await;
    let course = |price: &str, currency: &str| {
        format!(r#"{{"courseTitle":"Un","price":{price},"currency":"{currency}"}}"#)
    };
    let of_course = async |price: &str, currency: &str| {
        let body = course(price, currency).into();
        admin.json().send(Method::POST, "/api/v1/courses", body).await
    };
    for (price, currency) in [("10.125", "TND"), ("10", "JPY"), ("10.50", "EUR")] {
        of_course(price, currency).await.expect_created();
    }
    let phone = json!({ "phoneCode": "+216", "phone": "20123456", "password": "any" });
    let file = json!({ "name": "a/b.txt", "contentType": "text/plain", "size": 1 });
    let subdomain = json!({ "domain": "é".repeat(60), "rootdomain": "example.org" });
    for (answer, field, text) in [
        (of_course("10.5", "JPY").await, "price", "sans décimales"),
        (of_course("10.125", "EUR").await, "price", "au plus 2 décimales"),
        (of_course("10", "ZWL").await, "currency", "ISO 4217"),
        (admin.change_self(phone).await, "phoneCode", "sans « + »"),
        (admin.post("/files", file).await, "name", "sans « / » ni"),
        (admin.post("/cpanel/subdomain", subdomain).await, "domain", "forme ASCII"),
    ] {
        let error = &answer.json()["errors"][0];
        assert_eq!(error["field"], field, "{answer:?}");
        assert!(error["RESPONSE_TEXT"].as_str().unwrap().contains(text), "{error}");
    }
}
