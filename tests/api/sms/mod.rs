mod batch;
mod batches;
mod bulk;
mod crashes;
mod list;
mod opt_out;
mod opt_outs;
mod outcomes;
mod races;
mod rate;
mod receipts;
mod show;
mod single;
mod turns;

use common::Message;
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, Person, World, texts_of};

const NUMBER: &str = "+21620123456";

/// An administrator of the first committee with the right to send in bulk.
async fn sender(world: &World) -> Person {
    world.person(NewPerson::with(Profile::CommitteeAdmin).granted(&[domain::Grant::SmsBulk])).await
}

/// A World and someone who may send in it.
async fn world_and_sender() -> (World, Person) {
    let world = World::new().await;
    let sender = sender(&world).await;
    (world, sender)
}

/// `count` different numbers.
fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("+216201{number:05}")).collect()
}

/// Sends a batch to `recipients` and returns its identifier.
async fn send_to(person: &Person, recipients: &[String], message: &str) -> String {
    let body = json!({ "recipients": recipients, "message": message });
    let response = person.post("/sms/bulk", body).await.expect_success(Message::SmsBulkAccepted);
    response["batch"]["batchID"].as_str().unwrap().to_owned()
}

/// Sends a message to `to` and returns its identifier.
async fn send_one(person: &Person, to: &str) -> String {
    let answer = person.post("/sms/single", json!({ "to": to, "message": "Bonjour" })).await;
    let response = answer.expect_success(Message::SmsAccepted);
    response["sms"]["smsID"].as_str().unwrap().to_owned()
}

/// The identifiers `field` on all pages of the list `noun` at `path`.
async fn listed(person: &Person, path: &str, noun: &str, field: &str) -> Vec<String> {
    texts_of(&person.pages(path, noun).await.into(), field)
}

/// The text messages sent, newest first.
fn texts(world: &World) -> Vec<Value> {
    world.cloud().recorder().texts()
}

/// Whether a message was claimed and counted, so that it is about to be handed to the carrier.
fn is_being_sent(world: &World) -> bool {
    let is_count = |item: &Value| {
        let key = item["pk"]["S"].as_str();
        key.is_some_and(|key| key.starts_with("COUNTER#TextsPerRecipient#"))
    };
    world.items("transient").iter().any(is_count)
}

/// `status` and `failure` of a message.
async fn status(person: &Person, id: &str) -> (String, Value) {
    let sms = person.get(&format!("/sms/{id}")).await.expect_ok()["sms"].clone();
    (sms["status"].as_str().unwrap().to_owned(), sms["failure"].clone())
}
