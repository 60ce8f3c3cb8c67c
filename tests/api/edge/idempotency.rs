use std::{collections::BTreeSet, time::Duration};

use common::{ErrorCode, Message};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Person, World};

/// Each operation that creates something and takes the header beside those of text messages: who calls it, a body, the
/// prefix of the key of the items that it creates, and a field to change.
async fn operations(
    world: &World,
) -> [(Person, &'static str, Value, &'static str, &'static str); 4] {
    let admin = world.admin().await;
    let committee = json!({
        "nameArabe": "الهيئة الجهوية بقابس", "nameLatin": "Comité de Gabès", "type": "REGIONAL",
        "dateOfEst": "1987-04-12", "region": "Gabès", "city": "Gabès", "postalCode": 6000,
        "primaryEmail": "gabes@example.org", "primaryPhone": "+21675000101",
    });
    let course = json!({ "courseTitle": "Secourisme", "courseSubTitle": "Les gestes" });
    let file = json!({ "name": "Programme.pdf", "contentType": "application/pdf", "size": 9 });
    let registration = world.registration("amel@example.org");
    [
        (admin.clone(), "/committees", committee, "COMMITTEE#", "nameLatin"),
        (admin.clone(), "/courses", course, "COURSE#", "courseTitle"),
        (admin, "/files", file, "FILE#", "name"),
        (world.anonymous(), "/users/register", registration, "USER#", "lastName"),
    ]
}

fn created(world: &World, prefix: &str) -> usize {
    let items = world.items_of(prefix);
    let keys = items.iter().map(|item| item["pk"]["S"].to_string());
    keys.collect::<BTreeSet<_>>().len()
}

#[tokio::test]
async fn repeated_post_with_its_key_creates_once() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    for (person, path, body, prefix, field) in operations(&world).await {
        let person = person.with("idempotency-key", "k");
        let before = created(&world, prefix);
        let calls = (0..8).map(|_| person.post_until_answered(path, body.clone()));
        let answers = world.race(2, join_all(calls)).await;
        let bodies: BTreeSet<_> =
            answers.iter().map(|answer| (answer.status, answer.body.clone())).collect();
        assert_eq!((bodies.len(), answers[0].status), (1, 201), "{path} {bodies:?}");
        let replayed = |answer: &&tests::Answer| answer.header("idempotent-replayed") == "true";
        assert!(answers.iter().filter(replayed).count() >= 7, "{path}");
        assert_eq!(created(&world, prefix), before + 1, "{path}");

        let mut other = body.clone();
        other[field] = json!("Autre");
        person.post(path, other).await.expect_error(ErrorCode::IdempotencyKeyReused);
        assert_eq!(created(&world, prefix), before + 1, "{path}");
    }
}

#[tokio::test]
async fn bodies_are_compared_as_json() {
    let (world, admin) = World::with_admin().await;
    let send = async |body: &str| {
        let person = admin.with("idempotency-key", "k").json();
        person.send(http::Method::POST, "/api/v1/courses", body.to_owned().into()).await
    };
    let first = send(r#"{"courseTitle":"Un","x":{"a":1,"b":[2,{"c":3,"d":4}]}}"#).await;
    first.expect_success(Message::CourseCreated);
    for same in [
        r#"{ "x": { "b": [2, {"d": 4, "c": 3}], "a": 1 }, "courseTitle": "Un" }"#,
        r#"{"courseTitle":"Un","x":{"a":1.0,"b":[2e0,{"c":30e-1,"d":4.00}]}}"#,
    ] {
        let again = send(same).await;
        assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &first.body));
    }
    for other in [
        r#"{"courseTitle":"Un","x":{"a":1,"b":[{"c":3,"d":4},2]}}"#,
        r#"{"courseTitle":"Un","x":{"a":2,"b":[2,{"c":3,"d":4}]}}"#,
        r#"{"courseTitle":"Un","x":{"a":1.5,"b":[2,{"c":3,"d":4}]}}"#,
        r#"{"courseTitle":"Un","x":{"a":"1","b":[2,{"c":3,"d":4}]}}"#,
        r#"{"courseTitle":"Un"}"#,
    ] {
        send(other).await.expect_error(ErrorCode::IdempotencyKeyReused);
    }
    assert_eq!(created(&world, "COURSE#"), 1);
}

#[tokio::test]
async fn key_without_a_session_belongs_to_its_network() {
    let world = World::new().await;
    let person = world.anonymous().with("idempotency-key", "k");
    let first = person.post("/users/register", world.registration("amel@example.org")).await;
    first.expect_success(Message::UserRegistered);
    let mut other_password = world.registration("amel@example.org");
    other_password["password"] = json!("un autre mot de passe");
    let again = person.post("/users/register", other_password).await;
    again.expect_error(ErrorCode::IdempotencyKeyReused);
    let again = person.post("/users/register", world.registration("amel@example.org")).await;
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &first.body));
    person.sign_in("amel@example.org", "clé de sol et fa").await;
    let elsewhere = person.at("203.0.113.7");
    let refused = elsewhere.post("/users/register", world.registration("amel@example.org")).await;
    refused.expect_field_error("email", ErrorCode::EmailAlreadyUsed);
    let stored = world.items("transient").iter().map(Value::to_string).collect::<String>();
    assert!(!stored.contains("clé de sol") && stored.contains("amel@example.org"), "{stored}");
}

#[tokio::test]
async fn equal_passwords_of_two_registrations_have_different_digests() {
    let world = World::new().await;
    let mut digests = BTreeSet::new();
    for number in 0..2 {
        let person = world.anonymous().with("idempotency-key", "k");
        let registration = world.registration(&format!("amel{number}@example.org"));
        person.post("/users/register", registration).await.expect_created();
    }
    for item in world.items("transient") {
        let body = item["body"]["S"].as_str().unwrap_or_default();
        digests.extend(body.split_once(' ').map(|(_, digest)| digest.to_owned()));
    }
    assert_eq!(digests.len(), 2);
}

#[tokio::test]
async fn refused_post_leaves_its_key_unused() {
    let world = World::with(&[("FILE_QUOTA_BYTES", "100")]).await;
    let person = world.member().await.with("idempotency-key", "k");
    let file =
        |size: u64| json!({ "name": "a.pdf", "contentType": "application/pdf", "size": size });
    person.post("/files", file(101)).await.expect_error(ErrorCode::FileQuotaExceeded);
    let first = person.post("/files", file(100)).await;
    first.expect_success(Message::FileCreated);
    // The quota is used up now, which does not matter for the repetition.
    world.clock().advance(Duration::from_secs(60));
    let again = person.post("/files", file(100)).await;
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &first.body));
}

#[tokio::test]
async fn key_used_more_than_a_day_ago_is_free_before_its_record_is_deleted() {
    let (world, admin) = World::with_admin().await;
    for (path, body) in [
        ("/courses", json!({ "courseTitle": "Forge" })),
        ("/sms/single", json!({ "to": "+21620123456", "message": "Bonjour" })),
    ] {
        let mut answers = Vec::new();
        for _ in 0..2 {
            let admin = world.signed_in(admin.user().clone()).await.with("idempotency-key", "k");
            let made = admin.post(path, body.clone()).await;
            assert_eq!((made.status < 300, made.header("idempotent-replayed")), (true, ""));
            answers.push(made.body);
            world.clock().advance(Duration::from_secs(86_400 + 60));
        }
        assert_ne!(answers[0], answers[1]);
    }
}
