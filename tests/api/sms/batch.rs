//! `GET /sms/bulk/{batchId}`.

use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::ErrorCode;
use domain::{Grant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

use super::{numbers, send_to, sender, world_and_sender};

/// The batch; checks that its counters add up.
async fn consistent_batch(person: &Person, id: &str) -> Value {
    let batch = person.get(&format!("/sms/bulk/{id}")).await.expect_ok()["batch"].clone();
    let sum =
        |fields: &[&str]| fields.iter().map(|field| batch[*field].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        sum(&["accepted", "rejected", "duplicates"]),
        batch["total"].as_u64().unwrap(),
        "{batch}"
    );
    assert_eq!(
        sum(&["queued", "sending", "sent", "failed", "unknown", "delivered", "undelivered"]),
        batch["accepted"].as_u64().unwrap(),
        "{batch}"
    );
    batch
}

#[tokio::test]
async fn batch_counts_its_messages_by_status() {
    let (world, admin) = world_and_sender().await;
    let mut recipients = numbers(30);
    recipients.extend(["+21620100000".to_owned(), "x".to_owned()]);
    let id = send_to(&admin, &recipients, "Bonjour").await;
    let batch = consistent_batch(&admin, &id).await;
    assert_eq!(
        (&batch["queued"], &batch["message"], &batch["duplicates"], &batch["rejected"]),
        (&json!(30), &json!("Bonjour"), &json!(1), &json!(1))
    );
    world.deliver().await;
    assert_eq!(
        consistent_batch(&admin, &id).await["queued"],
        30,
        "the chunks are messages now and wait"
    );
    world.inject_fault_in(Service::Sns, Fault::new(Mode::Silent).times(2));
    world.sweep().await;
    // A message whose items conflicted is postponed: the next sweep sends it.
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    let batch = consistent_batch(&admin, &id).await;
    assert_eq!((&batch["sent"], &batch["unknown"]), (&json!(28), &json!(2)));
}

#[tokio::test]
async fn batch_of_a_sender_who_may_no_longer_send_fails_with_its_reason() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = world.admin().await;
    let of_committee = format!("/sms?scope=committee&committeeID={}", world.committee());
    for (change, failure) in [
        (None, "SENDER_CLOSED"),
        (Some(json!({ "permissions": [] })), "SENDER_NOT_ALLOWED"),
        (Some(json!({ "isVerified": false })), "SENDER_NOT_ALLOWED"),
    ] {
        let sender = sender(&world).await;
        let id = send_to(&sender, &numbers(3), "Bonjour").await;
        let sender = sender.user().user_id;
        match &change {
            None => admin.set_active(sender, false).await,
            Some(change) => _ = admin.change_member(sender, change.clone()).await,
        }
        world.deliver().await;
        // The messages wait for their turn.
        world.clock().advance(Duration::from_secs(60));
        world.sweep().await;
        let batch = consistent_batch(&admin, &id).await;
        assert_eq!(batch["failed"], 3, "{change:?}: {batch}");
        let messages = admin.pages(&of_committee, "sms").await;
        let failed: Vec<&Value> = messages.iter().filter(|sms| sms["batchID"] == id).collect();
        assert_eq!(failed.len(), 3);
        assert!(failed.iter().all(|sms| sms["failure"] == failure), "{failed:?}");
    }
    assert_eq!(world.cloud().recorder().texts().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batch_counters_always_add_up() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let admin = sender(&world).await;
    let id = send_to(&admin, &numbers(200), "Bonjour").await;
    let sending = {
        let world = world.clone();
        tokio::spawn(async move {
            world.deliver().await;
            world.sweep().await;
        })
    };
    let mut reads = 0;
    while !sending.is_finished() {
        consistent_batch(&admin, &id).await;
        reads += 1;
    }
    sending.await.unwrap();
    assert!(reads > 1, "{reads}");
    // What a busy machine has postponed.
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!(consistent_batch(&admin, &id).await["sent"], 200);
}

#[tokio::test]
async fn visible_to_sender_and_their_administrators_only() {
    let world = World::new().await;
    let member = world.person(NewPerson::with(Profile::Member).granted(&[Grant::SmsBulk])).await;
    let path = format!("/sms/bulk/{}", send_to(&member, &numbers(2), "Bonjour").await);
    for (someone, sees) in [
        (NewPerson::with(Profile::CommitteeAdmin), true),
        (NewPerson::with(Profile::SuperAdmin).of(world.another_committee("A", true).await), true),
        (NewPerson::with(Profile::Member).granted(&[Grant::SmsBulk]), false),
        (
            NewPerson::with(Profile::CommitteeAdmin).of(world.another_committee("B", true).await),
            false,
        ),
    ] {
        let answer = world.person(someone.clone()).await.get(&path).await;
        assert_eq!(answer.status, if sees { 200 } else { 404 }, "{someone:?}");
    }
    member.get(&path).await.expect_ok();
    member.get("/sms/bulk/x").await.expect_error(ErrorCode::BatchNotFound);
    world.clock().advance(Duration::from_secs(90 * 86_400));
    let member = world.signed_in(member.user().clone()).await;
    assert_eq!(
        member.get(&path).await.expect_ok()["batch"]["message"],
        Value::Null,
        "the text is kept for 90 days"
    );
}
