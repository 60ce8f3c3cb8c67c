//! The worker beside the dispatcher: whatever the worker has to do, a code does not wait for it.

use cloud::{
    Consumer,
    faults::{Fault, Mode},
};
use common::Message;
use dev::delivery;
use domain::{Grant, Profile, UserId};
use http::Method;
use serde_json::{Value, json};
use tests::{NewPerson, PASSWORD, Person, World};

/// Messages of a person that one step of an erasure deletes.
const STEP: usize = 200;
const STEPS: usize = 10;

/// One turn of the event source mapping of `consumer`: one read of the stream.
async fn turn(world: &World, consumer: Consumer) {
    world.cloud().settle();
    let delivered = delivery::deliver_to(world.cloud(), world.consumers(), consumer).await;
    assert!(delivered.unwrap() > 0);
}

async fn sender(world: &World) -> Person {
    let grants = [Grant::SmsSend, Grant::SmsBulk];
    world.person(NewPerson::with(Profile::Member).granted(&grants)).await
}

async fn send_batch(sender: &Person, size: usize) {
    let numbers: Vec<String> = (0..size).map(|at| format!("+216201{at:05}")).collect();
    let payload = json!({ "recipients": numbers, "message": "Bonjour" });
    sender.post("/sms/bulk", payload).await.expect_success(Message::SmsBulkAccepted);
}

/// Requests a code for a new person and returns their address.
async fn request_code(world: &World, ip: &str) -> String {
    let email = world.account(Profile::Member).await.email.to_string();
    world.anonymous().at(ip).ask_to_sign_in(&email, "email").await;
    email
}

fn mails_to(world: &World, email: &str) -> usize {
    let mails = world.cloud().recorder().mails();
    mails.iter().filter(|mail| mail["to"] == email).count()
}

/// The number of messages on the list of `user` and the number of chunks.
fn waiting(world: &World, user: UserId) -> (usize, usize) {
    let user = user.to_string();
    let items = world.items("records");
    let is_message = |item: &&Value| {
        item["sk"]["S"] == "SMS" && item["authoredPk"]["S"] == format!("USER#{user}#SMS").as_str()
    };
    let is_chunk = |item: &&Value| item["sk"]["S"] == "CHUNK";
    (items.iter().filter(is_message).count(), items.iter().filter(is_chunk).count())
}

/// The response of the worker to a record that always fails: DynamoDB refuses to read such a long partition key.
async fn handle_poisoned_record(world: &World) -> Value {
    let event = json!({ "Records": [{
        "eventName": "INSERT",
        "dynamodb": {
            "Keys": { "pk": { "S": format!("CHUNK#{}", "x".repeat(2048)) } },
            "NewImage": { "duePk": { "S": "CHUNKS" } },
            "SequenceNumber": "poisoned",
        },
    }] });
    let worker = world.consumers().worker.clone();
    let event = serde_json::from_value(event).unwrap();
    let handled = worker.answer(event).await.unwrap();
    serde_json::to_value(handled).unwrap()
}

/// A person with 2,000 messages is erased, batches wait, and each function has a record that always fails.
#[tokio::test]
async fn code_is_sent_within_two_turns_of_its_own_mapping() {
    let world = World::new().await;
    let (erased, other) = (sender(&world).await, sender(&world).await);
    let id = erased.user().user_id;
    for _ in 0..2 {
        send_batch(&erased, STEP * STEPS / 2).await;
    }
    world.deliver().await;
    let path = format!("/api/v1/users/{id}");
    let password = json!({ "password": PASSWORD }).to_string();
    erased.json().send(Method::DELETE, &path, password.into()).await.expect_ok();
    // The dispatcher cannot open the messages of this process.
    let other_key = identity::NamedKey::generate("other").to_setting();
    let stranger = world.another_process_with(&[("OUTBOX_KEYS", &other_key)]);
    for step in 0..STEPS {
        for _ in 0..2 {
            send_batch(&other, 50).await;
        }
        let unopened = request_code(&stranger, &format!("10.9.0.{step}")).await;
        let email = request_code(&world, &format!("10.8.0.{step}")).await;
        // Batches with a failed record are retried.
        world.inject_fault(Fault::new(Mode::Stream).times(1));
        turn(&world, Consumer::Dispatcher).await;
        turn(&world, Consumer::Dispatcher).await;
        assert_eq!((mails_to(&world, &email), mails_to(&world, &unopened)), (1, 0));
        assert_eq!(waiting(&world, id), (STEP * (STEPS - step), 4), "step {step}");
        assert_eq!(
            handle_poisoned_record(&world).await,
            json!({ "batchItemFailures": [{ "itemIdentifier": "poisoned" }] })
        );
        turn(&world, Consumer::Worker).await;
    }
    world.deliver().await;
    assert_eq!(waiting(&world, id), (0, 0));
}
