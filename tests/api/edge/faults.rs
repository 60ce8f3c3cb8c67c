//! Faults of DynamoDB: responses are complete, writes are atomic, and a lost response does not turn a success into
//! an error.

use std::time::Duration;

use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{PASSWORD, Person, World};
use tokio::time::timeout;

use crate::registrations::{Course, automatic};

const NEW: &str = "quatre figuiers sous la pluie";

async fn payload(world: &World) -> Value {
    world.registration("amel@example.org")
}

/// Sends one request of each kind during a fault of `mode`. Each response comes within five seconds, has one of the
/// `allowed` statuses and no internal detail; unless responses are lost, nothing is written.
async fn requests_during_fault(mode: Mode, allowed: &[u16]) {
    let world = World::new().await.another_process_with_product_limits();
    let (anonymous, member, admin) = (world.anonymous(), world.member().await, world.admin().await);
    let change = json!({ "oldPassword": PASSWORD, "newPassword": NEW, "confirmPassword": NEW });
    let payload = payload(&world).await;
    let path = format!("/committees/{}", admin.user().committee_id);
    let (records, transient) = (world.items("records").len(), world.items("transient").len());

    world.inject_fault(Fault {
        delay_ms: (mode == Mode::Slow).then_some(10_000),
        ..Fault::new(mode)
    });
    let requests: [(&Person, &str, &str, Value); 9] = [
        (&anonymous, "GET", "/committees", json!(null)),
        (&anonymous, "GET", &path, json!(null)),
        (
            &anonymous,
            "POST",
            "/auth/login",
            json!({ "email": "admin@example.org", "password": PASSWORD }),
        ),
        (&anonymous, "POST", "/users/register", payload),
        (&member, "GET", "/auth/check", json!(null)),
        (&member, "GET", "/auth/sessions", json!(null)),
        (&member, "PUT", "/users/reset-password", change),
        (&admin, "PUT", &path, json!({ "city": "Tunis" })),
        (&member, "POST", "/auth/logout", json!({})),
    ];
    for (person, method, path, body) in requests {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let url = format!("/api/v1{path}");
        let sent = person.send(method.parse().unwrap(), &url, body.into());
        let answer =
            timeout(Duration::from_secs(5), sent).await.expect("an answer within five seconds");
        assert!(allowed.contains(&answer.status), "{mode:?} {method} {path}: {answer:?}");
        let text = String::from_utf8_lossy(&answer.body).to_lowercase();
        for detail in ["dynamo", "aws", ".rs", "panic", "127.0.0.1", "exception", "throughput"] {
            assert!(!text.contains(detail), "{text}");
        }
    }
    world.clear_faults();
    if mode != Mode::Silent {
        assert_eq!(world.items("records").len(), records, "{mode:?}: nothing was written");
        assert_eq!(world.items("transient").len(), transient, "{mode:?}: nothing was written");
    }
    world.anonymous().sign_in("admin@example.org", PASSWORD).await;
}

#[tokio::test]
async fn refused_connection_returns_503() {
    requests_during_fault(Mode::Refuse, &[503]).await;
}

#[tokio::test]
async fn slow_store_returns_503() {
    requests_during_fault(Mode::Slow, &[503]).await;
}

#[tokio::test]
async fn throttled_store_returns_503() {
    requests_during_fault(Mode::Throttle, &[503]).await;
}

#[tokio::test]
async fn lost_store_response_returns_503_or_401() {
    requests_during_fault(Mode::Silent, &[503, 401]).await;
}

#[tokio::test]
async fn throttled_read_returns_503() {
    let (world, member) = World::with_member().await;
    world.inject_fault(Fault::new(Mode::Throttle).on("BatchGetItem"));
    member.get("/auth/check").await.expect_error(ErrorCode::Unavailable);
    world.inject_fault(Fault::new(Mode::Throttle).on("Query"));
    world.anonymous().get("/committees").await.expect_error(ErrorCode::Unavailable);
}

#[tokio::test]
async fn store_client_error_returns_500() {
    let (world, member) = World::with_member().await;
    world.inject_fault(Fault::named("ValidationException").on("Query"));
    world.anonymous().get("/committees").await.expect_error(ErrorCode::Internal);
    world.inject_fault(Fault::named("AccessDeniedException").on("BatchGetItem"));
    member.get("/auth/check").await.expect_error(ErrorCode::Internal);
}

#[tokio::test]
async fn failed_read_is_retried() {
    let (world, member) = World::with_member().await;
    world.inject_fault(Fault::new(Mode::Refuse).on("BatchGetItem").times(1));
    member.get("/auth/current-user").await.expect_ok();
    world.inject_fault(Fault::new(Mode::Silent).on("Query").times(1));
    world.anonymous().get("/committees").await.expect_ok();
}

#[tokio::test]
async fn partial_batch_is_retried_until_complete() {
    let (world, member) = World::with_member().await;
    world.inject_fault(Fault::new(Mode::Partial));
    member.get("/auth/current-user").await.expect_ok();
    world.anonymous().sign_in("admin@example.org", PASSWORD).await;
}

#[tokio::test]
async fn batches_that_come_item_by_item_do_not_fail_an_export() {
    let course = Course::with(automatic(20, 0)).await;
    for _ in 0..12 {
        course.registered().await;
    }
    course.world.inject_fault(Fault::new(Mode::Partial));
    let answer = course.trainer.post(&course.path("/export"), json!({})).await;
    assert_eq!(answer.expect_created()["export"]["rows"], 12);
}

#[tokio::test]
async fn few_conflicts_of_an_update_are_retried() {
    let world = World::new().await;
    world.inject_fault(Fault::new(Mode::Conflict).on("UpdateItem").times(3));
    world.anonymous().sign_in("admin@example.org", PASSWORD).await;
}

#[tokio::test]
async fn failing_transaction_is_retried_then_returns_503() {
    for (fault, retried) in [
        (Fault::new(Mode::Conflict), 3),
        (Fault::new(Mode::Throttle), 2),
        (Fault::named("InternalServerError"), 1),
        (Fault::named("InternalFailure"), 1),
        (Fault::named("ServiceUnavailable"), 1),
    ] {
        let world = World::new().await;
        let (anonymous, payload) = (world.anonymous(), payload(&world).await);
        let fault = fault.on("TransactWriteItems");
        world.inject_fault(fault.clone());
        let answer = anonymous.post("/users/register", payload.clone()).await;
        answer.expect_error(ErrorCode::Unavailable);
        world.inject_fault(fault.times(retried));
        anonymous.post("/users/register", payload).await.expect_created();
    }
}

#[tokio::test]
async fn ended_session_is_refused_only_after_a_read_of_one_moment() {
    let (world, member) = World::with_member().await;
    member.post("/auth/logout", json!({})).await;
    world.inject_fault(Fault::new(Mode::Throttle).on("TransactGetItems"));
    member.get("/auth/check").await.expect_error(ErrorCode::Unavailable);
    world.clear_faults();
    member.get("/auth/check").await.expect_unauthorized();
}

#[tokio::test]
async fn session_renewed_between_two_reads_of_a_batch_stays_valid() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    let member = world.member().await;
    world.inject_fault(Fault { delay_ms: Some(20), ..Fault::new(Mode::Torn) });
    let changing = tokio::spawn({
        let member = member.clone();
        async move { member.change_password(PASSWORD, NEW).await }
    });
    while !changing.is_finished() {
        let checks = (0..10).map(|_| member.get("/auth/check"));
        for answer in join_all(checks).await {
            answer.expect_ok();
        }
    }
    changing.await.unwrap().expect_success(Message::PasswordChanged);
}

#[tokio::test]
async fn reset_closes_connections_that_were_idle_and_reads_go_on() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    anonymous.get("/committees").await.expect_ok();
    let reset = Fault { delay_ms: Some(0), ..Fault::new(Mode::Reset).times(1) };
    world.inject_fault(reset);
    anonymous.get("/committees").await.expect_ok();
    assert!(world.cloud().faults().left().is_empty());
    world.inject_fault(Fault::new(Mode::Reset).times(1));
    anonymous.get("/committees").await.expect_ok();
    assert!(!world.cloud().faults().left().is_empty(), "no connection was idle for three seconds");
}

#[tokio::test]
async fn registration_with_lost_response_succeeds_once() {
    // The connection is dropped, or stays open until the attempt times out.
    for delay in [0, 5_000] {
        registration_with_lost_response(delay).await;
    }
}

async fn registration_with_lost_response(delay: u64) {
    let world = World::new().await.another_process_with_product_limits();
    let payload = payload(&world).await;
    let before = world.items("records").len();
    let mut silent = Fault::new(Mode::Silent).on("TransactWriteItems").times(1);
    silent.delay_ms = Some(delay);
    world.inject_fault(silent);
    world.anonymous().post("/users/register", payload.clone()).await.expect_created();
    assert_eq!(world.items("records").len(), before + 4, "address, account, credentials, message");
    let answer = world.anonymous().post("/users/register", payload).await;
    answer.expect_error(ErrorCode::EmailAlreadyUsed);
}

#[tokio::test]
async fn password_change_with_lost_response_succeeds() {
    let (world, member) = World::with_member().await;
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    member.change_password(PASSWORD, NEW).await.expect_success(Message::PasswordChanged);
    world.anonymous().sign_in(member.user().email.as_str(), NEW).await;
    member.get("/auth/check").await.expect_ok();
}

#[tokio::test]
async fn session_end_with_lost_response_succeeds() {
    let (world, admin) = World::with_admin().await;
    let answer = world.signed_in(admin.user().clone()).await.get("/auth/sessions").await;
    let sid = answer.expect_ok()["sessions"][0]["sid"].as_str().unwrap().to_owned();
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    admin.delete(&format!("/auth/sessions/{sid}")).await.expect_success(Message::SessionEnded);
}

#[tokio::test]
async fn committee_creation_with_lost_response_creates_one() {
    let (world, admin) = World::with_admin().await;
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    let payload = json!({
        "nameArabe": "أ", "nameLatin": "Ariana", "type": "X", "dateOfEst": "2000-01-01", "region": "A", "city": "A",
        "postalCode": 1, "primaryEmail": "a@example.org", "primaryPhone": "+21671123456",
    });
    admin.post("/committees", payload).await.expect_success(Message::CommitteeCreated);
    let listed = world.anonymous().get("/committees").await.expect_ok();
    assert_eq!(listed["committees"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn rate_limit_fails_open_and_security_counters_fail_closed() {
    let world = World::new().await;
    world.inject_fault(Fault::new(Mode::Refuse).on("UpdateItem"));
    world.anonymous().get("/committees").await.expect_ok();
    let answer = world.anonymous().login("admin@example.org", PASSWORD).await;
    answer.expect_error(ErrorCode::Unavailable);
    let payload = payload(&world).await;
    world.anonymous().post("/users/register", payload).await.expect_error(ErrorCode::Unavailable);
}

#[tokio::test]
async fn store_faults_do_not_count_as_failed_sign_ins() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.to_string();
    for operation in ["GetItem", "BatchGetItem", "Query"] {
        world.inject_fault(Fault::named("InternalServerError").on(operation));
        for _ in 0..11 {
            assert!([500, 503].contains(&member.login(&email, PASSWORD).await.status));
        }
    }
    world.inject_fault(Fault::new(Mode::Error).on("TransactWriteItems").times(200));
    for _ in 0..11 {
        assert!([500, 503].contains(&member.change_password(PASSWORD, NEW).await.status));
        assert!([500, 503].contains(&member.login(&email, PASSWORD).await.status));
    }
    world.clear_faults();
    member.sign_in(&email, PASSWORD).await;
}

#[tokio::test]
async fn failed_caller_lookup_returns_503_unknown_path_stays_404() {
    let (world, member) = World::with_member().await;
    world.inject_fault(Fault::new(Mode::Refuse).on("BatchGetItem"));
    member.get("/nowhere").await.expect_error(ErrorCode::NotFound);
    member.get("/auth/check").await.expect_error(ErrorCode::Unavailable);
    member.get("/committees").await.expect_error(ErrorCode::Unavailable);
}
