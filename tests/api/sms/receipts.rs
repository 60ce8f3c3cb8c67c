//! Delivery receipts: what Amazon SNS writes to CloudWatch Logs about text messages, as `worker` receives it.

use std::{io::Write, time::Duration};

use cloud::faults::{Fault, Mode, Service};
use data_encoding::BASE64;
use flate2::{Compression, write::GzEncoder};
use runtime::Error;
use serde_json::{Value, json};
use store::Outbound;
use tests::World;

use super::{NUMBER, is_being_sent, numbers, send_one, send_to, status, texts, world_and_sender};

/// "Example log for successful SMS delivery"
/// (<https://docs.aws.amazon.com/sns/latest/dg/sms_stats_cloudwatch.html>).
const SUCCESS: &str = include_str!("receipts/success.json");
/// "Example log for failed SMS delivery", on the same page.
const FAILURE: &str = include_str!("receipts/failure.json");
const ACCEPTED: &str = "Message has been accepted by phone carrier";

/// The log event `example` about the message `id`.
fn log(example: &str, id: &str) -> String {
    let mut log: Value = serde_json::from_str(example).unwrap();
    log["notification"]["messageId"] = id.into();
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

#[tokio::test]
async fn receipt_decides_whether_a_message_was_delivered() {
    let (world, admin) = world_and_sender().await;
    let other = "+21620123457";
    let (first, second) = (send_one(&admin, NUMBER).await, send_one(&admin, other).await);
    world.deliver().await;
    assert_eq!(delivery(&admin, &first).await, ("SENT".to_owned(), Value::Null));
    let delivered = log(SUCCESS, &sns_id(&world, NUMBER));
    let failed = log(FAILURE, &sns_id(&world, other));
    report(&world, &[delivered.clone(), failed]).await;
    // Only the first receipt of a message counts.
    let late = log(FAILURE, &sns_id(&world, NUMBER));
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
    let log_of = |example: &str, number: &String| log(example, &sns_id(&world, number));
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
        let log = log(SUCCESS, &sns_id(&world, NUMBER));
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
async fn receipt_of_a_text_of_unknown_outcome_changes_nothing() {
    let (world, admin) = world_and_sender().await;
    let (id, other) = (send_one(&admin, NUMBER).await, send_one(&admin, NUMBER).await);
    world.inject_fault_in(Service::Sns, Fault::new(Mode::Silent).times(1));
    world.deliver().await;
    let states = [status(&admin, &id).await.0, status(&admin, &other).await.0];
    let unknown = if states[0] == "UNKNOWN" { &id } else { &other };
    let receipts = texts(&world).into_iter().map(|text| log(FAILURE, text["id"].as_str().unwrap()));
    report(&world, &receipts.collect::<Vec<_>>()).await;
    assert_eq!(status(&admin, unknown).await.0, "UNKNOWN");
    let ended = [status(&admin, &id).await.0, status(&admin, &other).await.0];
    assert!(ended.contains(&"UNDELIVERED".to_owned()), "{ended:?}");
}

#[tokio::test]
async fn receipt_ends_no_text_that_is_not_sent() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    let what = Outbound::of(&format!("SMS#{id}")).unwrap();
    world.setup().store.record_message_id("34d9b400", what, world.clock().now()).await.unwrap();
    report(&world, &[log(FAILURE, "34d9b400")]).await;
    assert_eq!(status(&admin, &id).await.0, "QUEUED");
}

#[tokio::test]
async fn other_log_events_change_nothing() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    world.deliver().await;
    let sns = sns_id(&world, NUMBER);
    let receipt = log(SUCCESS, &sns);
    invoke(&world, event("CONTROL_MESSAGE", std::slice::from_ref(&receipt))).await.unwrap();
    let odd = [
        "no JSON".to_owned(),
        "{}".to_owned(),
        SUCCESS.to_owned(),
        receipt.replace("SUCCESS", "PENDING"),
        log(FAILURE, "unknown"),
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
    let receipt = log(SUCCESS, &sns_id(&world, NUMBER));
    let event = event("DATA_MESSAGE", &[receipt]);
    world.inject_fault(Fault::new(Mode::Silent).on("UpdateItem").times(1));
    assert!(invoke(&world, event.clone()).await.is_err());
    world.clear_faults();
    invoke(&world, event).await.unwrap();
    assert_eq!(status(&admin, &id).await.0, "DELIVERED");
    assert!(invoke(&world, json!({ "awslogs": { "data": "H4sIAAAAAAAA" } })).await.is_err());
}
