//! `GET /sms`.

use std::time::Duration;

use common::ErrorCode;
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, World};

use super::{NUMBER, numbers, send_one, send_to, sender};

#[tokio::test]
async fn own_messages_are_listed_newest_first_in_pages() {
    let world = World::new().await;
    let admin = sender(&world).await;
    let mut sent = Vec::new();
    for number in numbers(5) {
        world.clock().advance(Duration::from_millis(2));
        sent.push(send_one(&admin, &number).await);
    }
    send_one(&sender(&world).await, "+21620123456").await;
    sent.reverse();
    let (mut listed, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin
            .get(&format!("/sms?limit=2{cursor}"))
            .await
            .expect_ok();
        listed.extend(
            page["sms"]
                .as_array()
                .unwrap()
                .iter()
                .map(|sms| sms["smsID"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(listed, sent);
    admin
        .get("/sms?limit=0")
        .await
        .expect_field_error("limit", ErrorCode::LimitInvalid);
}

#[tokio::test]
async fn batch_is_listed_in_recipient_order() {
    let world = World::new().await;
    let admin = sender(&world).await;
    let recipients = numbers(45);
    let id = send_to(&admin, &recipients, "Bonjour").await;
    world.deliver().await;
    let (mut listed, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin
            .get(&format!("/sms?batchID={id}&limit=20{cursor}"))
            .await
            .expect_ok();
        listed.extend(
            page["sms"]
                .as_array()
                .unwrap()
                .iter()
                .map(|sms| sms["to"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
        admin
            .get(&format!("/sms?limit=20{cursor}"))
            .await
            .expect_field_error("cursor", ErrorCode::InvalidCursor);
    }
    assert_eq!(listed, recipients);
    world
        .person(NewPerson::with(Profile::CommitteeAdmin))
        .await
        .get(&format!("/sms?batchID={id}"))
        .await
        .expect_ok();
    world
        .member()
        .await
        .get(&format!("/sms?batchID={id}"))
        .await
        .expect_error(ErrorCode::BatchNotFound);
    admin
        .get("/sms?batchID=x")
        .await
        .expect_error(ErrorCode::BatchNotFound);
}

#[tokio::test]
async fn messages_and_batches_older_than_400_days_are_not_shown() {
    const DAY: Duration = Duration::from_secs(86_400);
    let world = World::new().await;
    let admin = sender(&world).await;
    let old = send_one(&admin, NUMBER).await;
    let batch = send_to(&admin, &numbers(2), "Bonjour").await;
    world.deliver().await;
    world.clock().advance(DAY * 399);
    let admin = world.signed_in(admin.user().clone()).await;
    let recent = send_one(&admin, NUMBER).await;
    let before = admin.get("/sms").await.expect_ok();
    assert_eq!(before["sms"].as_array().unwrap().len(), 4);
    // The items are still stored: their deletion lags.
    world.clock().advance(DAY);
    let admin = world.signed_in(admin.user().clone()).await;
    let after = admin.get("/sms").await.expect_ok();
    assert_eq!(after["sms"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&after["sms"][0]["smsID"], &after["nextCursor"]),
        (&json!(recent), &json!(null))
    );
    admin
        .get(&format!("/sms/{old}"))
        .await
        .expect_error(ErrorCode::SmsNotFound);
    for path in [
        format!("/sms/bulk/{batch}"),
        format!("/sms?batchID={batch}"),
    ] {
        admin
            .get(&path)
            .await
            .expect_error(ErrorCode::BatchNotFound);
    }
}
