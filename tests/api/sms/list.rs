//! `GET /sms`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use futures_util::future::join_all;
use serde_json::json;
use tests::{NewPerson, World};

use super::{NUMBER, listed, numbers, send_one, send_to, sender, world_and_sender};

const OF_COMMITTEE: &str = "/sms?scope=committee";

/// Someone who may send, but not see what others sent.
fn sending_member() -> NewPerson {
    NewPerson::with(Profile::Member).granted(&[Grant::SmsSend, Grant::SmsBulk])
}

#[tokio::test]
async fn own_messages_are_listed_newest_first_in_pages() {
    let (world, admin) = world_and_sender().await;
    let mut sent = Vec::new();
    for number in numbers(5) {
        world.clock().advance(Duration::from_millis(2));
        sent.push(send_one(&admin, &number).await);
    }
    send_one(&sender(&world).await, "+21620123456").await;
    sent.reverse();
    assert_eq!(listed(&admin, "/sms?limit=2", "sms", "smsID").await, sent);
}

#[tokio::test]
async fn committee_list_has_the_messages_of_all_its_senders() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let member = world.person(sending_member()).await;
    let far = world.person(sending_member().of(elsewhere)).await;
    let mut sent = Vec::new();
    for person in [&admin, &member, &admin] {
        world.clock().advance(Duration::from_millis(2));
        sent.push(send_one(person, NUMBER).await);
    }
    world.clock().advance(Duration::from_millis(2));
    let batch = send_to(&member, &numbers(3), "Bonjour").await;
    let of_far = vec![send_one(&far, NUMBER).await];
    world.deliver().await;
    sent.extend(listed(&member, &format!("/sms?batchID={batch}"), "sms", "smsID").await);
    sent.reverse();
    let root = world.admin().await;
    for limit in 1..=7 {
        let path = format!("{OF_COMMITTEE}&limit={limit}");
        assert_eq!(listed(&admin, &path, "sms", "smsID").await, sent, "{limit}");
    }
    for (person, query, expected) in [
        (&root, String::new(), &sent),
        (&root, format!("&committeeID={}", world.committee()), &sent),
        (&root, format!("&committeeID={elsewhere}"), &of_far),
        (&admin, format!("&committeeID={}", world.committee()), &sent),
    ] {
        let found = listed(person, &format!("{OF_COMMITTEE}{query}"), "sms", "smsID").await;
        assert_eq!(&found, expected, "{query}");
    }
    // Without the scope, each has their own messages.
    for path in ["/sms?limit=20", "/sms?scope=own", "/sms?committeeID=x"] {
        let found = listed(&admin, path, "sms", "smsID").await;
        assert_eq!(found, [sent[3].clone(), sent[5].clone()], "{path}");
    }
}

#[tokio::test]
async fn super_admins_alone_name_another_committee() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let root = world.admin().await;
    for path in [OF_COMMITTEE, "/sms/bulk?scope=committee"] {
        let of = |id: &str| format!("{path}&committeeID={id}");
        let elsewhere = of(&elsewhere.to_string());
        root.get(&elsewhere).await.expect_ok();
        admin.get(&elsewhere).await.expect_error(ErrorCode::Forbidden);
        for unknown in [of("x"), of("0198c0de-0000-7000-8000-00000000ffff")] {
            root.get(&unknown).await.expect_error(ErrorCode::CommitteeNotFound);
            admin.get(&unknown).await.expect_error(ErrorCode::Forbidden);
        }
    }
}

#[tokio::test]
async fn cursor_is_bound_to_scope_and_committee() {
    let world = World::new().await;
    let root = world.admin().await;
    for _ in 0..2 {
        send_one(&root, NUMBER).await;
        send_to(&root, &numbers(1), "Bonjour").await;
    }
    for path in ["/sms", "/sms/bulk"] {
        let page = root.get(&format!("{path}?scope=committee&limit=1")).await.expect_ok();
        let cursor = page["nextCursor"].as_str().unwrap();
        let elsewhere = world.another_committee("Sfax", true).await;
        for query in ["scope=own".to_owned(), format!("scope=committee&committeeID={elsewhere}")] {
            let answer = root.get(&format!("{path}?{query}&cursor={cursor}")).await;
            answer.expect_field_error("cursor", ErrorCode::InvalidCursor);
        }
        // The same committee, named.
        let own = world.committee();
        root.get(&format!("{path}?scope=committee&committeeID={own}&cursor={cursor}"))
            .await
            .expect_ok();
    }
}

#[tokio::test]
async fn committee_pages_repeat_and_skip_nothing_while_messages_are_sent() {
    let (world, admin) = world_and_sender().await;
    let mut sent = Vec::new();
    for number in numbers(40) {
        world.clock().advance(Duration::from_millis(2));
        sent.push(send_one(&admin, &number).await);
    }
    sent.reverse();
    let path = format!("{OF_COMMITTEE}&limit=3");
    assert_eq!(admin.get(&path).await.expect_ok()["sms"].as_array().unwrap().len(), 3);
    let found = admin.pages_beside(&path, "sms", async || {
        world.clock().advance(Duration::from_millis(2));
        send_one(&admin, NUMBER).await;
    });
    assert_eq!(Vec::from_iter(found.await.into_iter().map(|sms| sms["smsID"].clone())), sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_messages_of_a_committee_are_all_listed() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let mut senders = Vec::new();
    for _ in 0..4 {
        senders.push(world.person(sending_member()).await);
    }
    let numbers = numbers(8);
    let sending = senders.iter().flat_map(|person| {
        numbers.iter().map(move |number| async move {
            let payload = json!({ "to": number, "message": "Bonjour" });
            let person = person.with("idempotency-key", number);
            let answer = person.post_until_answered("/sms/single", payload).await;
            answer.expect_success(Message::SmsAccepted)["sms"]["smsID"].clone()
        })
    });
    let mut sent = join_all(sending).await;
    sent.sort_by(|one, other| other.as_str().cmp(&one.as_str()));
    let admin = world.person(Profile::CommitteeAdmin).await;
    let found = listed(&admin, &format!("{OF_COMMITTEE}&limit=5"), "sms", "smsID").await;
    assert_eq!(json!(found), json!(sent));
}

#[tokio::test]
async fn references_are_listed_and_statuses_are_current() {
    let (world, admin) = world_and_sender().await;
    let payload = json!({ "to": NUMBER, "message": "Bonjour", "clientRef": "r-1" });
    let accepted = admin.post("/sms/single", payload).await;
    assert_eq!(accepted.expect_success(Message::SmsAccepted)["sms"]["clientRef"], "r-1");
    let payload = json!({ "recipients": [{ "to": NUMBER, "clientRef": "r-2" }], "message": "a" });
    admin.post("/sms/bulk", payload).await.expect_success(Message::SmsBulkAccepted);
    world.deliver().await;
    world.sweep().await;
    for path in ["/sms", OF_COMMITTEE] {
        let page = admin.get(path).await.expect_ok();
        let mut found: Vec<_> = page["sms"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sms| json!([sms["clientRef"], sms["status"]]).to_string())
            .collect();
        found.sort();
        assert_eq!(found, [r#"["r-1","SENT"]"#, r#"["r-2","SENT"]"#], "{path}");
    }
}

#[tokio::test]
async fn batch_is_listed_in_recipient_order() {
    let (world, admin) = world_and_sender().await;
    let recipients = numbers(45);
    let id = send_to(&admin, &recipients, "Bonjour").await;
    world.deliver().await;
    let path = format!("/sms?batchID={id}&limit=20");
    assert_eq!(listed(&admin, &path, "sms", "to").await, recipients);
    let page = admin.get(&path).await.expect_ok();
    let cursor = page["nextCursor"].as_str().unwrap();
    let answer = admin.get(&format!("/sms?limit=20&cursor={cursor}")).await;
    answer.expect_field_error("cursor", ErrorCode::InvalidCursor);
    let url = format!("/sms?batchID={id}");
    world.person(Profile::CommitteeAdmin).await.get(&url).await.expect_ok();
    let answer = world.member().await.get(&format!("/sms?batchID={id}")).await;
    answer.expect_error(ErrorCode::BatchNotFound);
    admin.get("/sms?batchID=x").await.expect_error(ErrorCode::BatchNotFound);
}

#[tokio::test]
async fn messages_and_batches_older_than_400_days_are_not_shown() {
    const DAY: Duration = Duration::from_secs(86_400);
    let (world, admin) = world_and_sender().await;
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
    assert_eq!((&after["sms"][0]["smsID"], &after["nextCursor"]), (&json!(recent), &json!(null)));
    assert_eq!(listed(&admin, OF_COMMITTEE, "sms", "smsID").await, [recent]);
    for path in ["/sms/bulk?scope=own", "/sms/bulk?scope=committee"] {
        let batches = listed(&admin, path, "batches", "batchID").await;
        assert_eq!(batches, Vec::<String>::new(), "{path}");
    }
    admin.get(&format!("/sms/{old}")).await.expect_error(ErrorCode::SmsNotFound);
    for path in [format!("/sms/bulk/{batch}"), format!("/sms?batchID={batch}")] {
        admin.get(&path).await.expect_error(ErrorCode::BatchNotFound);
    }
}
