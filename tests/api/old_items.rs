//! Items as earlier versions of the service wrote them.

use std::time::Duration;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use common::Message;
use domain::{Grant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, World};

/// The keys of the records whose attribute `name` begins with `start`.
fn having(world: &World, name: &str, start: &str) -> Vec<[String; 2]> {
    let begins =
        |item: &Value| item[name]["S"].as_str().is_some_and(|text| text.starts_with(start));
    let key = |item: Value| ["pk", "sk"].map(|name| item[name]["S"].as_str().unwrap().to_owned());
    world.items("records").into_iter().filter(begins).map(key).collect()
}

/// Executes `expression`, in which `:value` is `value`, on the record with this key.
async fn update(world: &World, [pk, sk]: [String; 2], expression: &str, value: &str) {
    let text = |text: String| AttributeValue::S(text);
    Client::new(world.setup().aws.sdk())
        .update_item()
        .table_name("records")
        .key("pk", text(pk))
        .key("sk", text(sk))
        .update_expression(expression)
        .expression_attribute_values(":value", text(value.to_owned()))
        .send()
        .await
        .unwrap();
}

#[tokio::test]
async fn audit_entry_without_shard_is_listed() {
    let world = World::new().await;
    let admin = world.admin().await;
    let member = world.account(&NewPerson::with(Profile::Member)).await;
    let path = format!("/team/{}", member.user_id);
    for role in ["ancien", "nouveau"] {
        world.clock().advance(Duration::from_millis(2));
        admin.put(&path, json!({ "role": role })).await.expect_success(Message::TeamMemberUpdated);
        if role == "ancien" {
            for key in having(&world, "listPk", "AUDIT#") {
                update(&world, key, "SET listPk = :value", "AUDIT").await;
            }
        }
    }
    let audit = admin.get("/audit").await.expect_ok()["audit"].clone();
    let roles = [0, 1].map(|number| &audit[number]["after"]["role"]);
    assert_eq!(roles, ["nouveau", "ancien"]);
}

/// Before there were delivery receipts, a message had no `reason`.
#[tokio::test]
async fn text_message_without_reason_is_shown() {
    let world = World::new().await;
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin)).await;
    let payload = json!({ "to": "+21620123456", "message": "Bonjour" });
    let accepted = admin.post("/sms/single", payload).await;
    let id = accepted.expect_success(Message::SmsAccepted)["sms"]["smsID"].clone();
    for key in having(&world, "authoredPk", "USER#") {
        update(&world, key, "SET card.clientRef = :value REMOVE card.reason", "r-1").await;
    }
    let path = format!("/sms/{}", id.as_str().unwrap());
    let sms = admin.get(&path).await.expect_ok()["sms"].clone();
    assert_eq!((&sms["clientRef"], &sms["reason"]), (&json!("r-1"), &Value::Null));
}

/// Before committees had lists, messages and batches were in those of their senders alone.
#[tokio::test]
async fn text_messages_without_committee_list_stay_in_their_senders() {
    let world = World::new().await;
    let admin = NewPerson::with(Profile::CommitteeAdmin).granted(&[Grant::SmsBulk]);
    let admin = world.person(admin).await;
    let send = async |kind: &str, mut payload: Value| {
        world.clock().advance(Duration::from_millis(2));
        payload["message"] = json!("Bonjour");
        let answer = admin.post(&format!("/sms/{kind}"), payload).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        world.deliver().await;
    };
    send("single", json!({ "to": "+21620123456" })).await;
    send("bulk", json!({ "recipients": ["+21620123457"] })).await;
    for key in having(&world, "publishedPk", "COMMITTEE#") {
        let removal = "SET formerly = :value REMOVE publishedPk, publishedSk";
        update(&world, key, removal, "listed").await;
    }
    send("single", json!({ "to": "+21620123458" })).await;
    let count = async |path: &str, noun: &str| {
        let page = admin.get(path).await.expect_ok();
        page[noun].as_array().unwrap().len()
    };
    assert_eq!(count("/sms", "sms").await, 3);
    assert_eq!(count("/sms?scope=committee", "sms").await, 1);
    assert_eq!(count("/sms/bulk", "batches").await, 1);
    assert_eq!(count("/sms/bulk?scope=committee", "batches").await, 0);
    // They are sent as before.
    world.sweep().await;
    let listed = admin.get("/sms").await.expect_ok()["sms"].clone();
    let mut listed = listed.as_array().unwrap().iter();
    assert!(listed.all(|sms| sms["status"] == "SENT"));
}

#[tokio::test]
async fn due_message_without_shard_is_sent() {
    let world = World::new().await;
    let member = world.account(&NewPerson::with(Profile::Member)).await;
    world.anonymous().post("/auth/passwordless", json!({ "email": member.email })).await;
    for key in having(&world, "duePk", "OUTBOX#") {
        update(&world, key, "SET duePk = :value", "OUTBOX").await;
    }
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!(world.cloud().recorder().mails().len(), 1);
}
