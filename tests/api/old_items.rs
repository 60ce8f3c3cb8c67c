//! Items as earlier versions of the service wrote them.

use std::time::Duration;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use common::Message;
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, World};

/// The keys of the records whose attribute `name` begins with `start`.
fn having(world: &World, name: &str, start: &str) -> Vec<[String; 2]> {
    let begins = |item: &Value| {
        item[name]["S"]
            .as_str()
            .is_some_and(|text| text.starts_with(start))
    };
    let key = |item: Value| ["pk", "sk"].map(|name| item[name]["S"].as_str().unwrap().to_owned());
    world
        .items("records")
        .into_iter()
        .filter(begins)
        .map(key)
        .collect()
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
        admin
            .put(&path, json!({ "role": role }))
            .await
            .expect_success(Message::TeamMemberUpdated);
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

#[tokio::test]
async fn due_message_without_shard_is_sent() {
    let world = World::new().await;
    let member = world.account(&NewPerson::with(Profile::Member)).await;
    world
        .anonymous()
        .post("/auth/passwordless", json!({ "email": member.email }))
        .await;
    for key in having(&world, "duePk", "OUTBOX#") {
        update(&world, key, "SET duePk = :value", "OUTBOX").await;
    }
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!(world.cloud().recorder().mails().len(), 1);
}
