//! `GET /sms/{smsId}`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, World};

use super::{NUMBER, send_one, status, world_and_sender};

#[tokio::test]
async fn message_text_is_shown_for_ninety_days() {
    let (world, admin) = world_and_sender().await;
    let path = format!("/sms/{}", send_one(&admin, NUMBER).await);
    assert_eq!(admin.get(&path).await.expect_ok()["sms"]["message"], "Bonjour");
    world.clock().advance(Duration::from_secs(90 * 86_400));
    let admin = world.signed_in(admin.user().clone()).await;
    let sms = admin.get(&path).await.expect_ok()["sms"].clone();
    assert_eq!((&sms["message"], &sms["to"]), (&Value::Null, &json!(NUMBER)));
}

#[tokio::test]
async fn batch_message_is_visible_from_acceptance() {
    let (world, admin) = world_and_sender().await;
    let payload = json!({
        "message": "Bonjour à tous",
        "recipients": [NUMBER, "x", { "to": NUMBER, "message": "Bonjour {{name}}", "variables": { "name": "Amel" }, "clientRef": "r" }],
    });
    let response = admin.post("/sms/bulk", payload).await.expect_success(Message::SmsBulkAccepted);
    let ids = [0, 2].map(|at| response["results"][at]["smsID"].as_str().unwrap().to_owned());
    let check = async |expected_status: &str| {
        let mut messages = Vec::new();
        for id in &ids {
            let sms = admin.get(&format!("/sms/{id}")).await.expect_ok()["sms"].clone();
            assert_eq!(
                (&sms["batchID"], &sms["status"]),
                (&response["batch"]["batchID"], &json!(expected_status))
            );
            messages.push(json!([sms["message"], sms["clientRef"]]));
        }
        assert_eq!(
            messages,
            [json!(["Bonjour à tous", null]), json!(["Bonjour Amel", "r"])],
            "{expected_status}"
        );
    };
    check("QUEUED").await;
    world.deliver().await;
    check("QUEUED").await;
    world.sweep().await;
    check("SENT").await;
    let other = ids[0].replace('-', "").chars().rev().collect::<String>();
    admin.get(&format!("/sms/{other}")).await.expect_error(ErrorCode::SmsNotFound);
}

#[tokio::test]
async fn visible_to_sender_and_their_administrators_only() {
    let world = World::new().await;
    let member = world.person(NewPerson::with(Profile::Member).granted(&[Grant::SmsSend])).await;
    let path = format!("/sms/{}", send_one(&member, NUMBER).await);
    for (someone, sees) in [
        (NewPerson::with(Profile::CommitteeAdmin), true),
        (NewPerson::with(Profile::SuperAdmin).of(world.another_committee("A", true).await), true),
        (NewPerson::with(Profile::Member).granted(&[Grant::SmsSend]), false),
        (NewPerson::with(Profile::Trainer), false),
        (
            NewPerson::with(Profile::CommitteeAdmin).of(world.another_committee("B", true).await),
            false,
        ),
    ] {
        let answer = world.person(someone.clone()).await.get(&path).await;
        assert_eq!(answer.status, if sees { 200 } else { 404 }, "{someone:?}");
    }
    member.get(&path).await.expect_ok();
    member.get("/sms/x").await.expect_error(ErrorCode::SmsNotFound);
}

#[tokio::test]
async fn each_status_of_a_message_is_shown() {
    let (world, admin) = world_and_sender().await;
    let id = send_one(&admin, NUMBER).await;
    let what = store::Outbound::of(&format!("SMS#{id}")).unwrap();
    let now = world.clock().now();
    world.setup().store.claim(what, now.after(Duration::from_secs(300)), now).await.unwrap();
    assert_eq!(status(&admin, &id).await.0, "SENDING");
    world.clock().advance(Duration::from_secs(300));
    world.sweep().await;
    assert_eq!(
        status(&admin, &id).await,
        ("UNKNOWN".to_owned(), Value::Null),
        "the claim expired without an outcome"
    );
}
