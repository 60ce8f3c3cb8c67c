//! `GET /sms/bulk`.

use std::{collections::BTreeSet, time::Duration};

use domain::{Grant, Profile};
use futures_util::future::join_all;
use serde_json::json;
use tests::{NewPerson, World};

use super::{listed, numbers, send_to, sender, world_and_sender};

#[tokio::test]
async fn batches_are_listed_newest_first_in_pages() {
    let (world, admin) = world_and_sender().await;
    let member = NewPerson::with(Profile::Member).granted(&[Grant::SmsBulk]);
    let member = world.person(member).await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let far = NewPerson::with(Profile::Member).granted(&[Grant::SmsBulk]);
    let far = world.person(far.of(elsewhere)).await;
    let (mut own, mut all) = (Vec::new(), Vec::new());
    for count in 1..=3 {
        world.clock().advance(Duration::from_millis(2));
        own.push(send_to(&admin, &numbers(count), "Bonjour").await);
        all.extend(own.last().cloned());
        world.clock().advance(Duration::from_millis(2));
        all.push(send_to(&member, &numbers(count), "Bonsoir").await);
    }
    let of_far = [send_to(&far, &numbers(1), "Bonjour").await];
    own.reverse();
    all.reverse();
    let (own, all, of_far) = (own.as_slice(), all.as_slice(), of_far.as_slice());
    let root = world.admin().await;
    for limit in 1..=7 {
        for (person, query, expected) in [
            (&admin, String::new(), own),
            (&admin, "&scope=own".to_owned(), own),
            (&admin, "&scope=committee".to_owned(), all),
            (&far, String::new(), of_far),
            (&root, String::new(), &own[..0]),
            (&root, "&scope=committee".to_owned(), all),
            (&root, format!("&scope=committee&committeeID={elsewhere}"), of_far),
        ] {
            let path = format!("/sms/bulk?limit={limit}{query}");
            assert_eq!(listed(person, &path, "batches", "batchID").await, expected, "{path}");
        }
    }
    let newest = admin.get("/sms/bulk?limit=1").await.expect_ok()["batches"][0].clone();
    assert_eq!(
        newest,
        json!({
            "batchID": own[0], "total": 3, "accepted": 3, "rejected": 0, "duplicates": 0, "segments": 3,
            "type": "TRANSACTIONAL", "senderId": null, "userID": admin.user().user_id,
            "committeeID": world.committee(), "createdAt": newest["createdAt"],
        })
    );
}

#[tokio::test]
async fn pages_repeat_and_skip_no_batch_while_others_are_sent() {
    let (world, admin) = world_and_sender().await;
    let mut sent = Vec::new();
    for _ in 0..5 {
        world.clock().advance(Duration::from_millis(2));
        sent.push(send_to(&admin, &numbers(1), "Bonjour").await);
    }
    sent.reverse();
    let path = "/sms/bulk?scope=committee&limit=2";
    let found = admin.pages_beside(path, "batches", async || {
        world.clock().advance(Duration::from_millis(2));
        send_to(&admin, &numbers(1), "Bonsoir").await;
    });
    assert_eq!(Vec::from_iter(found.await.into_iter().map(|batch| batch["batchID"].clone())), sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_call_lists_one_batch() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = sender(&world).await.with("idempotency-key", "k");
    let payload = json!({ "recipients": numbers(2), "message": "Bonjour" });
    let calls = (0..20).map(|_| admin.post_until_answered("/sms/bulk", payload.clone()));
    let answers = join_all(calls).await;
    let ids: BTreeSet<String> = answers
        .iter()
        .map(|answer| answer.json()["batch"]["batchID"].as_str().unwrap().to_owned())
        .collect();
    for path in ["/sms/bulk?scope=own", "/sms/bulk?scope=committee"] {
        let found = listed(&admin, path, "batches", "batchID").await;
        assert_eq!(BTreeSet::from_iter(found.clone()), ids, "{path}");
        assert_eq!(found.len(), 1, "{path}");
    }
}
