mod batch;
mod bulk;
mod crashes;
mod list;
mod opt_out;
mod opt_outs;
mod outcomes;
mod rate;
mod show;
mod single;

use common::Message;
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

const NUMBER: &str = "+21620123456";

/// The administrator of the first committee, who may send to many, too.
async fn sender(world: &World) -> Person {
    world
        .person(NewPerson::with(Profile::CommitteeAdmin).granted(&[domain::Grant::SmsBulk]))
        .await
}

/// `count` numbers, all different.
fn numbers(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("+216201{number:05}"))
        .collect()
}

/// The batch that `person` sends to `recipients`.
async fn send_to(person: &Person, recipients: &[String], message: &str) -> String {
    let told = person
        .post(
            "/sms/bulk",
            json!({ "recipients": recipients, "message": message }),
        )
        .await
        .expect_success(Message::SmsBulkAccepted);
    told["batch"]["batchID"].as_str().unwrap().to_owned()
}

/// The message that `person` sends to `to`.
async fn send_one(person: &Person, to: &str) -> String {
    let told = person
        .post("/sms/single", json!({ "to": to, "message": "Bonjour" }))
        .await
        .expect_success(Message::SmsAccepted);
    told["sms"]["smsID"].as_str().unwrap().to_owned()
}

/// What was sent, newest first.
fn texts(world: &World) -> Vec<Value> {
    world.cloud().recorder().texts()
}

/// Status and failure of a message.
async fn status(person: &Person, id: &str) -> (String, Value) {
    let sms = person.get(&format!("/sms/{id}")).await.expect_ok()["sms"].clone();
    (
        sms["status"].as_str().unwrap().to_owned(),
        sms["failure"].clone(),
    )
}
