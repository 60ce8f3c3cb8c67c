//! The order in which messages are sent: codes and mails, single text messages, then batches, in which committees take
//! turns. `cargo bench-sms campaign` measures it.

use std::time::Duration;

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use cloud::faults::{Fault, Mode, Service};
use domain::{Grant, Profile};
use serde_json::Value;
use tests::{NewPerson, Person, World};

use super::{numbers, send_one, send_to, sender, status, texts};

/// A person of another committee who may send batches.
async fn other_sender(world: &World) -> Person {
    let committee = world.another_committee("Sousse", true).await;
    let person = NewPerson::with(Profile::CommitteeAdmin).granted(&[Grant::SmsBulk]);
    world.person(person.of(committee)).await
}

/// The senders of the messages that wait, in the order in which they will be sent.
fn order(world: &World) -> Vec<String> {
    let waiting = world.items("records").into_iter().filter(|item| {
        let list = item["duePk"]["S"].as_str();
        list.is_some_and(|list| list.starts_with("BULK"))
    });
    let mut order: Vec<(i64, String)> = waiting
        .map(|item| {
            let turn: i64 = item["dueAt"]["N"].as_str().unwrap().parse().unwrap();
            let user = item["card"]["M"]["userID"]["S"].as_str().unwrap();
            (turn, user.to_owned())
        })
        .collect();
    order.sort();
    order.into_iter().map(|(_, user)| user).collect()
}

/// The messages of batches whose turn has come.
fn started(world: &World) -> Vec<Value> {
    let items = world.items("records").into_iter();
    let is_started = |item: &Value| {
        let list = item["duePk"]["S"].as_str();
        list.is_some_and(|list| list.starts_with("STARTED"))
    };
    items.filter(is_started).collect()
}

fn count(order: &[String], of: &Person) -> usize {
    let id = of.user().user_id.to_string();
    order.iter().filter(|user| **user == id).count()
}

#[tokio::test]
async fn later_committee_takes_every_second_turn() {
    let world = World::new().await;
    let (first, second) = (sender(&world).await, other_sender(&world).await);
    send_to(&first, &numbers(300), "Bonjour").await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(3600));
    send_to(&second, &numbers(50), "Bonjour").await;
    world.deliver().await;
    let order = order(&world);
    assert_eq!(order.len(), 350);
    let begin = &order[..100];
    assert_eq!((count(begin, &first), count(begin, &second)), (50, 50));
}

#[tokio::test]
async fn small_batch_is_sent_in_turn_with_a_large_one() {
    let world = World::new().await;
    let (large, small) = (sender(&world).await, other_sender(&world).await);
    send_to(&large, &numbers(200), "Bonjour").await;
    send_to(&small, &numbers(20), "Bonsoir").await;
    world.deliver().await;
    world.sweep().await;
    let sent = texts(&world);
    assert_eq!(sent.len(), 220);
    let of_small =
        |text: &Value| text["text"].as_str().is_some_and(|text| text.contains("Bonsoir"));
    // The newest text is the first of the list.
    let last = sent.len() - sent.iter().position(of_small).unwrap();
    assert!(last <= 64, "the last of 20 was sent as the {last}th");
}

#[tokio::test]
async fn second_batch_of_a_committee_follows_its_first() {
    let world = World::new().await;
    let (first, second) = (sender(&world).await, other_sender(&world).await);
    for _ in 0..4 {
        send_to(&first, &numbers(50), "Bonjour").await;
    }
    send_to(&second, &numbers(100), "Bonjour").await;
    world.deliver().await;
    let order = order(&world);
    let begin = &order[..200];
    assert_eq!((count(begin, &first), count(begin, &second)), (100, 100));
}

#[tokio::test]
async fn message_is_sent_before_its_turn_when_none_waits() {
    let world = World::with(&[("SMS_RATE_PER_SECOND", "1000")]).await;
    let sender = sender(&world).await;
    send_to(&sender, &numbers(100), "Bonjour").await;
    world.deliver().await;
    world.clock().step_back(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!(texts(&world).len(), 100);
}

#[tokio::test]
async fn refused_message_is_retried_beside_those_that_wait() {
    let settings = [("SMS_RATE_PER_SECOND", "1000"), ("RATE_LIMIT", "1000000")];
    let world = World::with(&settings).await;
    let sender = sender(&world).await;
    send_to(&sender, &numbers(1), "Bonjour").await;
    world.deliver().await;
    world.inject_fault_in(Service::Sns, Fault::new(Mode::Throttle).times(1));
    world.sweep().await;
    assert_eq!(texts(&world).len(), 0);
    let refused = started(&world).remove(0);
    let id = refused["card"]["M"]["smsID"]["S"].as_str().unwrap();
    send_to(&sender, &numbers(200), "Bonsoir").await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(10));
    let others = world.another_process_with(&[("SMS_RATE_PER_SECOND", "10")]);
    let sent = async {
        while status(&sender, id).await.0 != "SENT" {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = sent => {}
        () = others.sweep() => panic!("the message was not sent beside the others"),
    }
    assert!(texts(&world).len() < 100, "the others still wait");
}

#[tokio::test]
async fn single_messages_that_wait_for_send_times_delay_no_code() {
    let world = World::with(&[("SMS_RATE_PER_SECOND", "1")]).await;
    let sender = sender(&world).await;
    for number in numbers(20) {
        send_one(&sender, &number).await;
    }
    world.anonymous().ask_to_sign_in(&world.account(Profile::Member).await.email, "email").await;
    world.clock().advance(Duration::from_secs(60));
    let _ = tokio::time::timeout(Duration::from_secs(2), world.sweep()).await;
    assert_eq!(world.cloud().recorder().mails().len(), 1);
    assert!(texts(&world).len() < 20, "the others still wait");
}

#[tokio::test]
async fn messages_that_cannot_be_read_delay_no_other() {
    let world = World::with(&[("SMS_RATE_PER_SECOND", "1000")]).await;
    let sender = sender(&world).await;
    send_to(&sender, &numbers(9), "Bonjour").await;
    world.deliver().await;
    world.inject_fault_in(Service::Sns, Fault::new(Mode::Throttle).times(9));
    world.sweep().await;
    let refused = started(&world);
    assert_eq!(refused.len(), 9);
    let now = world.clock().now().unix_milliseconds().to_string();
    // As many as are read at once.
    for item in &refused[..8] {
        let text = |name: &str| AttributeValue::S(item[name]["S"].as_str().unwrap().to_owned());
        Client::new(world.setup().aws.sdk())
            .update_item()
            .table_name("records")
            .key("pk", text("pk"))
            .key("sk", text("sk"))
            .update_expression("SET card.#status = :sending, attempts = :none, dueAt = :now")
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":sending", AttributeValue::S("SENDING".to_owned()))
            .expression_attribute_values(":none", AttributeValue::S("none".to_owned()))
            .expression_attribute_values(":now", AttributeValue::N(now.clone()))
            .send()
            .await
            .unwrap();
    }
    world.clock().advance(Duration::from_secs(5));
    world.sweep().await;
    assert_eq!(texts(&world).len(), 1);
}
