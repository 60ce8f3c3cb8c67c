//! Bad days of the tables: every answer is whole, nothing is half done, no winner is told he lost.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use local::faults::{Fault, Mode};
use serde_json::{Value, json};
use tests::{PASSWORD, Person, Someone, World};
use tokio::time::timeout;

const NEW: &str = "quatre figuiers sous la pluie";

async fn wish(world: &World) -> Value {
    json!({ "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "committeeID": world.committee() })
}

/// One request of each kind on a day of `mode`: each is answered within five seconds, by one of the
/// `allowed` statuses and without detail, and nothing is written.
async fn on_a_day_of(mode: Mode, allowed: &[u16]) {
    let world = World::new().await;
    let (stranger, member, admin) = (world.stranger(), world.member().await, world.admin().await);
    let change = json!({ "oldPassword": PASSWORD, "newPassword": NEW, "confirmPassword": NEW });
    let wish = wish(&world).await;
    let path = format!("/committees/{}", admin.user().committee_id);
    let (records, transient) = (world.items("records").len(), world.items("transient").len());

    world.strike(Fault {
        delay_ms: Some(10_000),
        ..Fault::new(mode)
    });
    let requests: [(&Person, &str, &str, Value); 9] = [
        (&stranger, "GET", "/committees", json!(null)),
        (&stranger, "GET", &path, json!(null)),
        (
            &stranger,
            "POST",
            "/auth/login",
            json!({ "email": "admin@example.org", "password": PASSWORD }),
        ),
        (&stranger, "POST", "/users/register", wish),
        (&member, "GET", "/auth/check", json!(null)),
        (&member, "GET", "/auth/sessions", json!(null)),
        (&member, "PUT", "/users/reset-password", change),
        (&admin, "PUT", &path, json!({ "city": "Tunis" })),
        (&member, "POST", "/auth/logout", json!({})),
    ];
    for (person, method, path, body) in requests {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let url = format!("/api/v1{path}");
        let sent = person.send(method.parse().unwrap(), &url, body.into());
        let answer = timeout(Duration::from_secs(5), sent)
            .await
            .expect("an answer within five seconds");
        assert!(
            allowed.contains(&answer.status),
            "{mode:?} {method} {path}: {answer:?}"
        );
        let text = String::from_utf8_lossy(&answer.body).to_lowercase();
        for detail in [
            "dynamo",
            "aws",
            ".rs",
            "panic",
            "127.0.0.1",
            "exception",
            "throughput",
        ] {
            assert!(!text.contains(detail), "{text}");
        }
    }
    world.heal();
    if mode != Mode::Silent {
        assert_eq!(
            world.items("records").len(),
            records,
            "{mode:?}: nothing was written"
        );
        assert_eq!(
            world.items("transient").len(),
            transient,
            "{mode:?}: nothing was written"
        );
    }
    world
        .stranger()
        .login("admin@example.org", PASSWORD)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn refused_connections_are_503() {
    on_a_day_of(Mode::Refuse, &[503]).await;
}

#[tokio::test]
async fn slowness_is_503() {
    on_a_day_of(Mode::Slow, &[503]).await;
}

#[tokio::test]
async fn throttling_is_over_the_limit() {
    on_a_day_of(Mode::Throttle, &[429]).await;
}

#[tokio::test]
async fn silence_is_503_or_what_really_happened() {
    on_a_day_of(Mode::Silent, &[503, 401]).await;
}

#[tokio::test]
async fn throttled_reads_alone_are_503() {
    let world = World::new().await;
    let member = world.member().await;
    world.strike(Fault::new(Mode::Throttle).on("BatchGetItem"));
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::Unavailable);
    world.strike(Fault::new(Mode::Throttle).on("Query"));
    world
        .stranger()
        .get("/committees")
        .await
        .refuses(ErrorCode::Unavailable);
}

#[tokio::test]
async fn an_error_that_we_caused_is_500() {
    let world = World::new().await;
    let member = world.member().await;
    world.strike(Fault {
        error: Some("ValidationException".into()),
        ..Fault::new(Mode::Error).on("Query")
    });
    world
        .stranger()
        .get("/committees")
        .await
        .refuses(ErrorCode::Internal);
    world.strike(Fault {
        error: Some("AccessDeniedException".into()),
        ..Fault::new(Mode::Error).on("BatchGetItem")
    });
    member.get("/auth/check").await.refuses(ErrorCode::Internal);
}

#[tokio::test]
async fn one_failed_read_is_tried_again_and_nobody_notices() {
    let world = World::new().await;
    let member = world.member().await;
    world.strike(Fault::new(Mode::Refuse).on("BatchGetItem").times(1));
    member.get("/auth/current-user").await.shows();
    world.strike(Fault::new(Mode::Silent).on("Query").times(1));
    world.stranger().get("/committees").await.shows();
}

#[tokio::test]
async fn a_batch_that_is_answered_in_part_is_asked_for_until_it_is_whole() {
    let world = World::new().await;
    let member = world.member().await;
    world.strike(Fault::new(Mode::Partial));
    member.get("/auth/current-user").await.shows();
    world
        .stranger()
        .login("admin@example.org", PASSWORD)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn a_few_conflicts_of_transactions_are_waited_out() {
    let world = World::new().await;
    world.strike(Fault::new(Mode::Conflict).on("TransactWriteItems").times(3));
    world
        .stranger()
        .login("admin@example.org", PASSWORD)
        .await
        .tells(Message::LoginSuccess);
    world.strike(Fault::new(Mode::Conflict).on("UpdateItem").times(3));
    world
        .stranger()
        .login("admin@example.org", PASSWORD)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn conflicts_without_end_are_503() {
    let world = World::new().await;
    let wish = wish(&world).await;
    world.strike(Fault::new(Mode::Conflict).on("TransactWriteItems"));
    world
        .stranger()
        .post("/users/register", wish.clone())
        .await
        .refuses(ErrorCode::Unavailable);
    world.heal();
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .tells(Message::UserRegistered);
}

#[tokio::test]
async fn a_registration_whose_answer_was_lost_is_told_as_done_and_stands_once() {
    let world = World::new().await;
    let wish = wish(&world).await;
    let before = world.items("records").len();
    world.strike(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    world
        .stranger()
        .post("/users/register", wish.clone())
        .await
        .tells(Message::UserRegistered);
    assert_eq!(
        world.items("records").len(),
        before + 4,
        "address, account, credentials, message"
    );
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .refuses(ErrorCode::EmailAlreadyUsed);
}

#[tokio::test]
async fn a_registration_that_was_refused_outright_can_be_tried_again() {
    let world = World::new().await;
    let wish = wish(&world).await;
    world.strike(Fault::new(Mode::Refuse).on("TransactWriteItems"));
    world
        .stranger()
        .post("/users/register", wish.clone())
        .await
        .refuses(ErrorCode::Unavailable);
    world.heal();
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .tells(Message::UserRegistered);
}

#[tokio::test]
async fn a_password_change_whose_answer_was_lost_is_told_as_done() {
    let world = World::new().await;
    let member = world.member().await;
    world.strike(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    let change = json!({ "oldPassword": PASSWORD, "newPassword": NEW, "confirmPassword": NEW });
    member
        .put("/users/reset-password", change)
        .await
        .tells(Message::PasswordChanged);
    world
        .stranger()
        .login(member.user().email.as_str(), NEW)
        .await
        .tells(Message::LoginSuccess);
    member.get("/auth/check").await.shows();
}

#[tokio::test]
async fn a_session_whose_end_was_not_heard_is_told_as_ended() {
    let world = World::new().await;
    let admin = world.admin().await;
    let other = world.signed_in(admin.user().clone()).await;
    let sid = other.get("/auth/sessions").await.shows()["sessions"][0]["sid"]
        .as_str()
        .unwrap()
        .to_owned();
    world.strike(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    admin
        .delete(&format!("/auth/sessions/{sid}"))
        .await
        .tells(Message::SessionEnded);
}

#[tokio::test]
async fn a_committee_whose_founding_was_not_heard_stands_once() {
    let world = World::new().await;
    let admin = world.admin().await;
    world.strike(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    let wish = json!({
        "nameArabe": "أ", "nameLatin": "Ariana", "type": "X", "dateOfEst": "2000-01-01", "region": "A", "city": "A",
        "postalCode": 1, "primaryEmail": "a@example.org", "primaryPhone": "+21671123456",
    });
    admin
        .post("/committees", wish)
        .await
        .tells(Message::CommitteeCreated);
    assert_eq!(
        world.stranger().get("/committees").await.shows()["committees"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn the_public_limit_fails_open_and_the_security_counters_fail_closed() {
    let world = World::new().await;
    world.strike(Fault::new(Mode::Refuse).on("UpdateItem"));
    world.stranger().get("/committees").await.shows();
    world
        .stranger()
        .login("admin@example.org", PASSWORD)
        .await
        .refuses(ErrorCode::Unavailable);
    let wish = wish(&world).await;
    world
        .stranger()
        .post("/users/register", wish)
        .await
        .refuses(ErrorCode::Unavailable);
}

#[tokio::test]
async fn faults_of_ours_do_not_use_up_the_owners_tries() {
    let world = World::new().await;
    let member = world.member().await;
    let email = member.user().email.to_string();
    let change = json!({ "oldPassword": PASSWORD, "newPassword": NEW, "confirmPassword": NEW });
    for operation in ["GetItem", "BatchGetItem", "Query"] {
        world.strike(Fault {
            error: Some("InternalServerError".into()),
            ..Fault::new(Mode::Error).on(operation)
        });
        for _ in 0..11 {
            assert!([500, 503].contains(&member.login(&email, PASSWORD).await.status));
        }
    }
    world.strike(Fault::new(Mode::Error).on("TransactWriteItems").times(200));
    for _ in 0..11 {
        assert!(
            [500, 503].contains(
                &member
                    .put("/users/reset-password", change.clone())
                    .await
                    .status
            )
        );
    }
    world.heal();
    member
        .login(&email, PASSWORD)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn a_public_endpoint_needs_no_caller_who_could_not_be_looked_up() {
    let world = World::new().await;
    let member = world.person(Someone::with(Profile::Member)).await;
    world.strike(Fault::new(Mode::Refuse).on("BatchGetItem"));
    member.get("/nowhere").await.refuses(ErrorCode::NotFound);
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::Unavailable);
    member
        .get("/committees")
        .await
        .refuses(ErrorCode::Unavailable);
}
