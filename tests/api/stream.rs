//! The stream with the fault `stream`: records arrive repeatedly, late, in another order and beside a poisoned one. The
//! tables and the inboxes end as if each had arrived once.

use std::{collections::BTreeSet, time::Duration};

use cloud::faults::{Fault, Mode, Service};
use common::Message;
use dev::delivery;
use domain::{Grant, Profile};
use http::Method;
use serde_json::{Value, json};
use tests::{NewPerson, PASSWORD, Person, World};

async fn world_with_repeated_records() -> World {
    let world = World::new().await;
    world.inject_fault(Fault::new(Mode::Stream));
    world
}

/// One read of the stream; what it delivers is delivered again by the next one. Returns the number of records.
async fn deliver_once(world: &World) -> usize {
    delivery::deliver(world.cloud(), world.consumers()).await.unwrap()
}

async fn request_code(world: &World, payload: Value) {
    world.anonymous().post("/auth/passwordless", payload).await.expect_ok();
}

async fn sender(world: &World) -> Person {
    world.person(NewPerson::with(Profile::CommitteeAdmin).granted(&[Grant::SmsBulk])).await
}

fn inbox(world: &World) -> (usize, usize) {
    let recorder = world.cloud().recorder();
    (recorder.mails().len(), recorder.texts().len())
}

fn statuses(items: &[Value]) -> Vec<&str> {
    let statuses = items.iter().filter_map(|item| item["card"]["M"]["status"]["S"].as_str());
    statuses.collect()
}

#[tokio::test]
async fn repeated_records_send_each_code_once() {
    let world = world_with_repeated_records().await;
    let member = NewPerson::with(Profile::Member).with_phone("216", "20123456");
    let member = world.account(&member).await;
    request_code(&world, json!({ "email": "admin@example.org" })).await;
    request_code(&world, json!({ "email": member.email, "sendMethode": "sms" })).await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!(inbox(&world), (1, 1));
    assert_eq!(statuses(&world.items_of("OUTBOX#")), ["SENT", "SENT"]);
}

#[tokio::test]
async fn refused_mail_with_repeated_records_is_sent_once() {
    let world = world_with_repeated_records().await;
    world.cloud().faults().add(Service::Ses, Fault::new(Mode::Throttle).times(2));
    request_code(&world, json!({ "email": "admin@example.org" })).await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!(inbox(&world), (1, 0));
}

#[tokio::test]
async fn late_record_does_not_send_an_expired_code() {
    let world = world_with_repeated_records().await;
    world.cloud().faults().add(Service::Ses, Fault::new(Mode::Throttle));
    request_code(&world, json!({ "email": "admin@example.org" })).await;
    deliver_once(&world).await;
    world.clear_faults();
    world.clock().advance(Duration::from_secs(700));
    world.deliver().await;
    assert_eq!(inbox(&world), (0, 0));
    assert_eq!(statuses(&world.items_of("OUTBOX#")), ["FAILED"]);
}

#[tokio::test]
async fn repeated_records_send_a_single_text_message_once() {
    let world = world_with_repeated_records().await;
    let payload = json!({ "to": "+21620123456", "message": "Bonjour" });
    sender(&world).await.post("/sms/single", payload).await.expect_ok();
    world.deliver().await;
    world.sweep().await;
    assert_eq!(inbox(&world), (0, 1));
    assert_eq!(statuses(&world.items_of("SMS#")), ["SENT"]);
}

#[tokio::test]
async fn repeated_chunks_create_and_send_each_message_of_a_batch_once() {
    let world = world_with_repeated_records().await;
    let sender = sender(&world).await;
    let numbers: Vec<String> = (0..60).map(|number| format!("+216201{number:05}")).collect();
    let payload = json!({ "recipients": numbers, "message": "Bonjour" });
    let accepted = sender.post("/sms/bulk", payload).await;
    let batch = accepted.expect_success(Message::SmsBulkAccepted)["batch"]["batchID"].clone();
    deliver_once(&world).await;
    world.sweep().await;
    world.deliver().await;
    world.sweep().await;
    let texts = world.cloud().recorder().texts();
    let reached: BTreeSet<&str> = texts.iter().filter_map(|text| text["to"].as_str()).collect();
    assert_eq!((texts.len(), reached.len()), (60, 60));
    let path = format!("/sms/bulk/{}", batch.as_str().unwrap());
    assert_eq!(sender.get(&path).await.expect_ok()["batch"]["sent"], 60);
    assert!(world.items_of("CHUNK#").is_empty());
}

/// The record of the publication arrives again after the return to draft has removed the search entries.
#[tokio::test]
async fn late_record_of_a_publication_adds_no_search_entries() {
    let world = world_with_repeated_records().await;
    let trainer = world.person(Profile::Trainer).await;
    let course = json!({
        "courseTitle": "Soudure", "description": "Souder en trois jours.", "courseType": "ONLINE",
        "sectionOfMatter": "Énergie", "contactEmail": "cours@example.org",
    });
    let created = trainer.post("/courses", course).await;
    let course = created.expect_success(Message::CourseCreated)["course"]["courseID"].clone();
    let path = format!("/courses/{}", course.as_str().unwrap());
    let words = || {
        let words = world.items_of("WORD#");
        let counts: Vec<String> =
            words.iter().filter_map(|item| item["n"]["N"].as_str()).map(str::to_owned).collect();
        (words.len() - counts.len(), counts)
    };
    for (action, message, entries, count) in [
        ("publish", Message::CoursePublished, 2, "1"),
        ("to-draft", Message::CourseReturned, 0, "0"),
        ("publish", Message::CoursePublished, 2, "1"),
    ] {
        trainer.post(&format!("{path}/{action}"), json!({})).await.expect_success(message);
        deliver_once(&world).await;
        assert_eq!(words(), (entries, vec![count.to_owned(); 2]), "{action}");
    }
    world.deliver().await;
    assert_eq!(words(), (2, vec!["1".to_owned(); 2]));
    let found = trainer.get("/courses/search-all?q=soudure%20energie").await;
    assert_eq!(found.expect_ok()["courses"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn repeated_erasure_leaves_what_a_single_one_leaves() {
    let world = world_with_repeated_records().await;
    let member = world.member().await;
    let id = member.user().user_id;
    let path = format!("/api/v1/users/{id}");
    let password = json!({ "password": PASSWORD }).to_string();
    member.json().send(Method::DELETE, &path, password.into()).await.expect_ok();
    deliver_once(&world).await;
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    world.deliver().await;
    let mut left = world.items("records");
    left.retain(|item| item.to_string().contains(&id.to_string()));
    // The erasure itself stays in the audit.
    left.retain(|item| !item["sk"]["S"].as_str().is_some_and(|key| key.starts_with("AUDIT#")));
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0]["duePk"].is_null() && !left[0]["card"]["M"]["erasedAt"].is_null());
}
