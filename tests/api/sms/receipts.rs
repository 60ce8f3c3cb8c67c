//! Delivery receipts: what Amazon SNS writes to CloudWatch Logs about text messages, as `worker` receives it.

use std::{io::Write, time::Duration};

use cloud::faults::{Fault, Mode, Service};
use data_encoding::BASE64;
use domain::{Instant, Profile, outbox::State};
use flate2::{Compression, write::GzEncoder};
use runtime::Error;
use serde_json::{Value, json};
use store::Outbound;
use tests::{NewPerson, World};

use super::{NUMBER, is_being_sent, numbers, send_one, send_to, status, texts, world_and_sender};

/// "Example log for successful SMS delivery"
/// (<https://docs.aws.amazon.com/sns/latest/dg/sms_stats_cloudwatch.html>).
const SUCCESS: &str = include_str!("receipts/success.json");
/// "Example log for failed SMS delivery", on the same page.
const FAILURE: &str = include_str!("receipts/failure.json");
const ACCEPTED: &str = "Message has been accepted by phone carrier";

/// The log event `example` about the message `id` to `number`, which SNS accepted at `at`.
fn log(example: &str, id: &str, number: &str, at: Instant) -> String {
    let mut log: Value = serde_json::from_str(example).unwrap();
    log["notification"]["messageId"] = id.into();
    let time = at.to_string().replace('T', " ");
    log["notification"]["timestamp"] = time.trim_end_matches('Z').into();
    log["delivery"]["destination"] = number.into();
    log.to_string()
}

/// The event that CloudWatch Logs makes of `logs`
/// (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html#LambdaFunctionExample>).
fn event(kind: &str, logs: &[String]) -> Value {
    let log_events = (0..).zip(logs).map(|(number, message)| {
        json!({ "id": format!("3195310660696698337880902507980421114328961542429822156{number}"), "timestamp": 1_432_826_855_000_u64, "message": message })
    });
    let data = json!({
        "owner": "123456789012",
        "logGroup": "sns/eu-west-3/123456789012/DirectPublishToPhoneNumber",
        "logStream": "f1f54cf0-5a5e-4d5c-9d2b-34d9b400c6dd",
        "subscriptionFilters": ["halqa"],
        "messageType": kind,
        "logEvents": log_events.collect::<Vec<_>>(),
    });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(data.to_string().as_bytes()).unwrap();
    json!({ "awslogs": { "data": BASE64.encode(&gzip.finish().unwrap()) } })
}

async fn invoke(world: &World, event: Value) -> Result<(), Error> {
    let worker = world.consumers().worker.clone();
    worker.answer(serde_json::from_value(event)?).await.map(|_| ())
}

/// Passes `logs` to the worker.
async fn report(world: &World, logs: &[String]) {
    invoke(world, event("DATA_MESSAGE", logs)).await.unwrap();
}

/// The id that SNS gave the newest text to `number`.
fn sns_id(world: &World, number: &str) -> String {
    let texts = texts(world);
    let text = texts.iter().find(|text| text["to"] == number).unwrap();
    text["id"].as_str().unwrap().to_owned()
}

/// `status` and `reason` of the message `id`.
async fn delivery(person: &tests::Person, id: &str) -> (String, Value) {
    let sms = person.get(&format!("/sms/{id}")).await.expect_ok()["sms"].clone();
    assert_eq!(sms["failure"], Value::Null);
    (sms["status"].as_str().unwrap().to_owned(), sms["reason"].clone())
}

/// Sends a text to `number` whose response is lost: its outcome is unknown, although SNS has it. Returns its id.
async fn send_without_response(world: &World, person: &tests::Person, number: &str) -> String {
    world.inject_fault_in(Service::Sns, Fault::new(Mode::Silent).times(1));
    let id = send_one(person, number).await;
    world.deliver().await;
    assert_eq!(status(person, &id).await.0, "UNKNOWN");
    id
}

#[tokio::test]
async fn receipt_decides_whether_a_message_was_delivered() {
    let (world, admin) = world_and_sender().await;
    let other = "+21620123457";
    let (first, second) = (send_one(&admin, NUMBER).await, send_one(&admin, other).await);
    world.deliver().await;
    assert_eq!(delivery(&admin, &first).await, ("SENT".to_owned(), Value::Null));
    let now = world.clock().now();
    let delivered = log(SUCCESS, &sns_id(&world, NUMBER), NUMBER, now);
    let failed = log(FAILURE, &sns_id(&world, other), other, now);
    report(&world, &[delivered.clone(), failed]).await;
    // Only the first receipt of a message counts.
    let late = log(FAILURE, &sns_id(&world, NUMBER), NUMBER, now);
    report(&world, &[late, delivered]).await;
    assert_eq!(delivery(&admin, &first).await, ("DELIVERED".to_owned(), json!(ACCEPTED)));
    assert_eq!(
        delivery(&admin, &second).await,
        ("UNDELIVERED".to_owned(), json!("Unknown error attempting to reach phone"))
    );
}

#[tokio::test]
async fn batch_counts_delivered_and_undelivered_messages() {
    let (world, admin) = world_and_sender().await;
    let numbers = numbers(4);
    let batch = send_to(&admin, &numbers, "Bonjour").await;
    world.deliver().await;
    world.sweep().await;
    let now = world.clock().now();
    let log_of =
        |example: &str, number: &String| log(example, &sns_id(&world, number), number, now);
    report(
        &world,
        &[log_of(SUCCESS, &numbers[0]), log_of(FAILURE, &numbers[1]), log_of(SUCCESS, &numbers[2])],
    )
    .await;
    let batch = admin.get(&format!("/sms/bulk/{batch}")).await.expect_ok()["batch"].clone();
    assert_eq!(
        ["accepted", "sent", "delivered", "undelivered"].map(|field| batch[field].clone()),
        [4, 1, 2, 1].map(|count| json!(count))
    );
}

/// The sender cannot write the id of SNS yet when the receipt arrives.
#[tokio::test]
async fn receipt_before_the_outcome_is_not_lost() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    let slow = Fault { delay_ms: Some(100), ..Fault::new(Mode::Slow) };
    world.inject_fault_in(Service::Sns, slow);
    let receipt = async {
        while !is_being_sent(&world) {
            tokio::task::yield_now().await;
        }
        world.cloud().faults().add(Service::Dynamodb, Fault::new(Mode::Refuse).on("UpdateItem"));
        while texts(&world).is_empty() {
            tokio::task::yield_now().await;
        }
        world.clear_faults();
        let log = log(SUCCESS, &sns_id(&world, NUMBER), NUMBER, world.clock().now());
        report(&world, &[log]).await;
    };
    tokio::join!(world.deliver(), receipt);
    assert_eq!(delivery(&admin, &id).await, ("DELIVERED".to_owned(), json!(ACCEPTED)));
    world.clock().advance(Duration::from_secs(400));
    world.sweep().await;
    assert_eq!(texts(&world).len(), 1);
    assert_eq!(delivery(&admin, &id).await.0, "DELIVERED");
}

#[tokio::test]
async fn receipt_without_known_id_matches_a_single_candidate() {
    let (world, admin) = world_and_sender().await;
    let id = send_without_response(&world, &admin, NUMBER).await;
    let (sns, now) = (sns_id(&world, NUMBER), world.clock().now());
    // Another number, and other times.
    for (number, at) in [
        ("+21620123457", now),
        (NUMBER, now.before(Duration::from_secs(60))),
        (NUMBER, now.after(Duration::from_secs(60))),
    ] {
        report(&world, &[log(FAILURE, &format!("other-{at}"), number, at)]).await;
        assert_eq!(status(&admin, &id).await.0, "UNKNOWN", "{number} {at}");
    }
    report(&world, &[log(SUCCESS, &sns, NUMBER, now)]).await;
    assert_eq!(delivery(&admin, &id).await, ("DELIVERED".to_owned(), json!(ACCEPTED)));
    // The same receipt once more is not that of a later message.
    let later = send_without_response(&world, &admin, NUMBER).await;
    report(&world, &[log(SUCCESS, &sns, NUMBER, now)]).await;
    assert_eq!(status(&admin, &later).await.0, "UNKNOWN");
}

#[tokio::test]
async fn receipt_of_one_of_two_candidates_matches_neither() {
    let (world, admin) = world_and_sender().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(send_without_response(&world, &admin, NUMBER).await);
    }
    let log = log(FAILURE, &sns_id(&world, NUMBER), NUMBER, world.clock().now());
    report(&world, &[log]).await;
    for id in &ids {
        assert_eq!(status(&admin, id).await.0, "UNKNOWN");
    }
}

/// The receipt of a message whose id is known is no candidate's, whatever its number and time.
#[tokio::test]
async fn receipt_of_a_code_matches_no_other_text_to_its_number() {
    let (world, admin) = world_and_sender().await;
    let member = NewPerson::with(Profile::Member).with_phone("216", "20123456");
    let member = world.account(&member).await;
    let id = send_without_response(&world, &admin, NUMBER).await;
    world.anonymous().ask_to_sign_in(&member.email, "sms").await;
    world.deliver().await;
    let log = log(SUCCESS, &sns_id(&world, NUMBER), NUMBER, world.clock().now());
    report(&world, &[log]).await;
    assert_eq!(status(&admin, &id).await.0, "UNKNOWN");
    let statuses: Vec<Value> = world
        .items("records")
        .iter()
        .filter(|item| item["sk"]["S"] == "OUTBOX")
        .map(|item| item["card"]["M"]["status"]["S"].clone())
        .collect();
    assert_eq!(statuses, ["DELIVERED"]);
}

/// The process ends after SNS has accepted the message, before it records anything. Its receipt, of a failure, arrives
/// while the message is claimed. Returns the id of the message, whose claim has expired.
async fn interrupted_sending(world: &World, admin: &tests::Person) -> String {
    let id = send_one(admin, NUMBER).await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let what = Outbound::of(&format!("SMS#{id}")).unwrap();
    let number = NUMBER.parse().unwrap();
    store.announce_text(what, &number, now).await.unwrap();
    let until = now.after(Duration::from_secs(300));
    assert!(store.claim(what, until, now).await.unwrap().is_some());
    report(world, &[log(FAILURE, "34d9b400", NUMBER, now)]).await;
    // Another process that finds the message in its list does not end it.
    assert!(!store.expire_claim(what, now).await.unwrap());
    assert_eq!(status(admin, &id).await.0, "SENDING");
    world.clock().advance(Duration::from_secs(301));
    id
}

#[tokio::test]
async fn receipt_of_an_interrupted_sending_ends_the_message() {
    let (world, admin) = world_and_sender().await;
    let id = interrupted_sending(&world, &admin).await;
    world.sweep().await;
    assert_eq!(delivery(&admin, &id).await.0, "UNDELIVERED");
    assert_eq!(texts(&world).len(), 0);
}

/// The receipt came from another message to the same number.
#[tokio::test]
async fn receipt_during_a_refused_attempt_does_not_decide_the_next_one() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let what = Outbound::of(&format!("SMS#{id}")).unwrap();
    let number = NUMBER.parse().unwrap();
    store.announce_text(what, &number, now).await.unwrap();
    let until = now.after(Duration::from_secs(300));
    store.claim(what, until, now).await.unwrap().unwrap();
    report(&world, &[log(FAILURE, "34d9b400", NUMBER, now)]).await;
    store.requeue(what, 1, now, now).await.unwrap();
    store.claim(what, until, now).await.unwrap().unwrap();
    let ended = store.record_outcome(what, 2, State::Unknown, None, now);
    ended.await.unwrap();
    assert_eq!(status(&admin, &id).await.0, "UNKNOWN");
}

/// The process that ends the message with its receipt is killed after one of its writes.
#[tokio::test]
async fn receipt_is_linked_despite_a_crash_in_between() {
    let (world, admin) = world_and_sender().await;
    let id = interrupted_sending(&world, &admin).await;
    let slow = Fault { delay_ms: Some(200), ..Fault::new(Mode::Slow).on("UpdateItem") };
    let life = slow.delay().mul_f64(1.5);
    world.inject_fault_in(Service::Dynamodb, slow);
    let (store, now) = (&world.setup().store, world.clock().now());
    let what = Outbound::of(&format!("SMS#{id}")).unwrap();
    let killed = tokio::time::timeout(life, store.expire_claim(what, now)).await;
    assert!(killed.is_err());
    world.clear_faults();
    world.sweep().await;
    assert_eq!(delivery(&admin, &id).await.0, "UNDELIVERED");
    assert_eq!(texts(&world).len(), 0);
}

#[tokio::test]
async fn other_log_events_change_nothing() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    world.deliver().await;
    let (sns, now) = (sns_id(&world, NUMBER), world.clock().now());
    let receipt = log(SUCCESS, &sns, NUMBER, now);
    invoke(&world, event("CONTROL_MESSAGE", std::slice::from_ref(&receipt))).await.unwrap();
    let odd = [
        "no JSON".to_owned(),
        "{}".to_owned(),
        SUCCESS.to_owned(),
        receipt.replace("SUCCESS", "PENDING"),
        receipt.replace("\"timestamp\":\"", "\"timestamp\":\"yesterday "),
        log(FAILURE, "unknown", NUMBER, now),
    ];
    report(&world, &odd).await;
    assert_eq!(status(&admin, &id).await.0, "SENT");
    report(&world, &[receipt]).await;
    assert_eq!(status(&admin, &id).await.0, "DELIVERED");
}

#[tokio::test]
async fn receipt_that_cannot_be_recorded_fails_the_invocation() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    world.deliver().await;
    let receipt = log(SUCCESS, &sns_id(&world, NUMBER), NUMBER, world.clock().now());
    let event = event("DATA_MESSAGE", &[receipt]);
    world.inject_fault(Fault::new(Mode::Silent).on("UpdateItem").times(1));
    assert!(invoke(&world, event.clone()).await.is_err());
    world.clear_faults();
    invoke(&world, event).await.unwrap();
    assert_eq!(status(&admin, &id).await.0, "DELIVERED");
    assert!(invoke(&world, json!({ "awslogs": { "data": "H4sIAAAAAAAA" } })).await.is_err());
}
