//! Dispatcher and worker: every outcome of SES and SNS, lost stream records and killed processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use cloud::faults::{Fault, Mode, Service};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::{Value, json};
use store::{Outbound, keys::DueList};
use tests::{NewPerson, World};

/// Requests a sign-in mail to the super admin.
async fn ask(world: &World) {
    world.anonymous().ask_to_sign_in("admin@example.org", "email").await;
}

/// The messages in the outbox, in any status.
fn outbox(world: &World) -> Vec<Value> {
    world.items_of("OUTBOX#")
}

fn states(world: &World) -> Vec<String> {
    outbox(world)
        .iter()
        .map(|item| item["card"]["M"]["status"]["S"].as_str().unwrap().to_owned())
        .collect()
}

fn mails(world: &World) -> usize {
    world.cloud().recorder().mails().len()
}

#[tokio::test]
async fn sent_message_has_no_content_and_expires() {
    let world = World::new().await;
    ask(&world).await;
    assert_eq!(states(&world), ["QUEUED"]);
    assert!(outbox(&world)[0]["card"]["M"]["sealed"]["S"].is_string());
    world.deliver().await;
    let item = outbox(&world).remove(0);
    assert_eq!(item["card"]["M"]["status"]["S"], "SENT");
    for gone in ["duePk", "dueAt"] {
        assert!(item[gone].is_null(), "{gone}");
    }
    assert!(item["card"]["M"]["sealed"].is_null());
    assert!(item["ttl"]["N"].is_string());
}

#[tokio::test]
async fn mail_has_text_html_link_and_one_six_digit_code() {
    let world = World::new().await;
    ask(&world).await;
    let mail = world.mails("admin@example.org").await.remove(0);
    let code = tests::digits(mail["text"].as_str().unwrap());
    let html = mail["html"].as_str().unwrap();
    assert_eq!(tests::digits(html), code);
    let link = format!(
        "https://front.example.org/passwordless#code={}",
        world.mailed_link("admin@example.org").await
    );
    assert!(mail["text"].as_str().unwrap().contains(&link) && html.contains(&link));
}

#[tokio::test]
async fn decoy_message_has_same_size_and_is_dropped() {
    let world = World::new().await;
    ask(&world).await;
    world.anonymous().post("/auth/passwordless", json!({ "email": "unknown@example.org" })).await;
    let sizes: Vec<usize> = outbox(&world).iter().map(|item| item.to_string().len()).collect();
    assert_eq!(sizes[0], sizes[1]);
    let codes = |item: &&Value| item["pk"]["S"].as_str().unwrap().starts_with("CODE#");
    let sizes: Vec<usize> =
        world.items("transient").iter().filter(codes).map(|item| item.to_string().len()).collect();
    assert_eq!(sizes[0], sizes[1]);
    world.deliver().await;
    assert_eq!((mails(&world), states(&world)), (1, vec!["SENT".to_owned(), "SENT".to_owned()]));
}

#[tokio::test]
async fn sweep_sends_after_a_minute_what_the_stream_missed() {
    let world = World::new().await;
    ask(&world).await;
    world.sweep().await;
    assert_eq!(mails(&world), 0, "due after one minute");
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!(mails(&world), 1);
    world.deliver().await;
    assert_eq!(mails(&world), 1, "a late stream record does not send it again");
}

#[tokio::test]
async fn due_work_of_all_shards_is_found_in_order() {
    let world = World::new().await;
    for _ in 0..12 {
        let user = world.account(Profile::Member).await;
        world.anonymous().post("/auth/passwordless", json!({ "email": user.email })).await;
        world.clock().advance(Duration::from_secs(1));
    }
    let messages = outbox(&world);
    let text = |item: &Value, name: &str| item[name]["S"].as_str().unwrap().to_owned();
    let shards: BTreeSet<String> = messages.iter().map(|item| text(item, "duePk")).collect();
    assert!(shards.len() > 1, "{shards:?}");
    let due_at = |item: &Value| item["dueAt"]["N"].as_str().unwrap().to_owned();
    let expected: BTreeMap<String, String> =
        messages.iter().map(|item| (due_at(item), text(item, "pk"))).collect();
    world.cloud().settle();
    let later = world.clock().now().after(Duration::from_secs(3600));
    let found = world.setup().store.due(DueList::Outbox, later, 5).await.unwrap();
    let found: Vec<String> = found.into_iter().map(|due| due.pk).collect();
    assert_eq!(found, Vec::from_iter(expected.into_values().take(5)));
}

#[tokio::test]
async fn concurrent_dispatchers_send_a_message_once() {
    let world = World::new().await;
    for number in 0..5 {
        let user = world.account(Profile::Member).await;
        let anonymous = world.anonymous().at(&format!("10.8.0.{number}"));
        anonymous.ask_to_sign_in(&user.email, "email").await;
    }
    world.clock().advance(Duration::from_secs(60));
    let processes: Vec<_> = (0..8).map(|_| world.another_process()).collect();
    join_all(processes.iter().map(World::sweep)).await;
    assert_eq!(mails(&world), 5);
}

#[tokio::test]
async fn refused_message_is_retried_and_not_lost() {
    let world = World::new().await;
    world.inject_fault_in(Service::Ses, Fault::new(Mode::Throttle).times(2));
    ask(&world).await;
    world.deliver().await;
    assert_eq!((mails(&world), states(&world)), (0, vec!["QUEUED".to_owned()]));
    for _ in 0..2 {
        world.clock().advance(Duration::from_secs(30));
        world.sweep().await;
    }
    assert_eq!((mails(&world), states(&world)), (1, vec!["SENT".to_owned()]));
}

#[tokio::test]
async fn lost_carrier_response_becomes_unknown_and_is_not_resent() {
    let world = World::new().await;
    world.inject_fault_in(Service::Ses, Fault::new(Mode::Silent).times(1));
    ask(&world).await;
    world.deliver().await;
    world.clock().advance(Duration::from_secs(3600));
    world.sweep().await;
    assert_eq!((mails(&world), states(&world)), (1, vec!["UNKNOWN".to_owned()]));
    assert!(outbox(&world)[0]["card"]["M"]["sealed"].is_null());
}

#[tokio::test]
async fn permanent_refusal_becomes_failed() {
    let world = World::new().await;
    world.inject_fault_in(Service::Ses, Fault::named("MessageRejected"));
    ask(&world).await;
    world.deliver().await;
    assert_eq!(states(&world), ["FAILED"]);
    let world = World::new().await;
    world.account(&NewPerson::with(Profile::Member).with_phone("216", "20123456")).await;
    world.inject_fault_in(Service::Sns, Fault::named("OptedOut"));
    world.anonymous().ask_to_sign_in("person1@example.org", "sms").await;
    world.deliver().await;
    assert_eq!(states(&world), ["FAILED"]);
}

#[tokio::test]
async fn expired_code_is_not_sent() {
    let world = World::new().await;
    world.inject_fault_in(Service::Ses, Fault::new(Mode::Throttle));
    ask(&world).await;
    world.deliver().await;
    world.clear_faults();
    world.clock().advance(Duration::from_secs(700));
    world.sweep().await;
    assert_eq!((mails(&world), states(&world)), (0, vec!["FAILED".to_owned()]));
}

#[tokio::test]
async fn dispatcher_killed_while_sending_leaves_message_unknown() {
    let world = World::new().await;
    ask(&world).await;
    let id = Outbound::of(outbox(&world)[0]["pk"]["S"].as_str().unwrap()).unwrap();
    let now = world.clock().now();
    let claimed =
        world.setup().store.claim(id, now.after(Duration::from_secs(300)), now).await.unwrap();
    assert!(claimed.is_some());
    assert!(
        world.setup().store.claim(id, now, now).await.unwrap().is_none(),
        "it is claimed already"
    );
    world.deliver().await;
    world.clock().advance(Duration::from_secs(240));
    world.sweep().await;
    assert_eq!(states(&world), ["SENDING"]);
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert_eq!((mails(&world), states(&world)), (0, vec!["UNKNOWN".to_owned()]));
}

#[tokio::test]
async fn mail_to_a_domain_that_receives_none_is_not_sent() {
    let world = World::new().await;
    world.register("amel@halqa.invalid").await;
    world.deliver().await;
    assert_eq!((mails(&world), states(&world)), (0, vec!["FAILED".to_owned()]));
}

/// The sample event `file` of `function`.
fn sample(function: &str, file: &str) -> Value {
    let path = format!("{}/../events/{function}/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The response of `function` to `event`.
async fn handle(world: &World, function: &str, event: Value) -> Value {
    let event = serde_json::from_value(event).unwrap();
    let consumers = world.consumers().clone();
    let handled = match function {
        "dispatcher" => consumers.dispatcher.answer(event).await,
        _ => consumers.worker.answer(event).await,
    };
    serde_json::to_value(handled.unwrap()).unwrap()
}

#[tokio::test]
async fn sample_events_are_handled() {
    let world = World::new().await;
    for function in ["dispatcher", "worker"] {
        for file in ["stream", "sweep"] {
            assert_eq!(
                handle(&world, function, sample(function, file)).await,
                json!({ "batchItemFailures": [] }),
                "{function}: {file}"
            );
        }
    }
}

#[tokio::test]
async fn failed_record_is_reported_for_retry() {
    let world = World::new().await;
    world.inject(Mode::Refuse);
    for function in ["dispatcher", "worker"] {
        let event = sample(function, "stream");
        let handled = handle(&world, function, event.clone()).await;
        let records = event["Records"].as_array().unwrap().iter();
        let failures: Vec<Value> = records
            .map(|record| json!({ "itemIdentifier": record["dynamodb"]["SequenceNumber"] }))
            .collect();
        assert_eq!(handled, json!({ "batchItemFailures": failures }), "{function}");
    }
}

#[tokio::test]
async fn function_ignores_records_of_the_other_one() {
    let world = World::new().await;
    world.inject(Mode::Refuse);
    for (function, other) in [("dispatcher", "worker"), ("worker", "dispatcher")] {
        let handled = handle(&world, function, sample(other, "stream")).await;
        assert_eq!(handled, json!({ "batchItemFailures": [] }), "{function}");
    }
}

#[tokio::test]
async fn task_failing_for_a_day_becomes_dead_letter_until_replayed() {
    let (world, someone) = World::with_person(Profile::Member).await;
    let announced = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    let file = someone.post("/files", announced).await.expect_created()["file"]["fileID"].clone();
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    let dead_letters = || async { ops::dead_letters(world.setup()).await.unwrap() };
    for _ in 0..60 {
        world.clock().advance(Duration::from_secs(1800));
        world.sweep().await;
        if !dead_letters().await.is_empty() {
            break;
        }
    }
    let dead_letter = dead_letters().await.remove(0);
    assert_eq!(dead_letter.pk, format!("FILE#{}", file.as_str().unwrap()));
    assert!(
        world.clock().now().since(dead_letter.since) >= Duration::from_secs(86_400),
        "{dead_letter:?}"
    );
    world.clear_faults();
    world.sweep().await;
    assert_eq!(dead_letters().await.len(), 1, "a dead letter is not retried");
    assert_eq!(ops::replay(world.setup(), Some("FILE#x")).await.unwrap(), 0);
    assert_eq!(ops::replay(world.setup(), None).await.unwrap(), 1);
    world.sweep().await;
    assert!(dead_letters().await.is_empty());
    let is_it = |item: &Value| item["pk"]["S"] == dead_letter.pk.as_str();
    let item = world.items("records").into_iter().find(is_it);
    assert!(
        item.is_none_or(
            |item| item["duePk"].is_null() || item["card"]["M"]["status"]["S"] == "DELETED"
        ),
        "it was handled"
    );
}

#[tokio::test]
async fn message_sealed_with_missing_key_waits_for_the_key() {
    let world = World::new().await;
    ask(&world).await;
    let other = world.another_process_with(&[(
        "OUTBOX_KEYS",
        &identity::NamedKey::generate("other").to_setting(),
    )]);
    world.clock().advance(Duration::from_secs(60));
    other.sweep().await;
    assert_eq!((mails(&world), states(&world)), (0, vec!["QUEUED".to_owned()]));
    world.clock().advance(Duration::from_secs(400));
    world.sweep().await;
    assert_eq!((mails(&world), states(&world)), (1, vec!["SENT".to_owned()]));
}
