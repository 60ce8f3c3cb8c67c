use std::time::Duration;

use common::Message;
use serde_json::json;
use tests::{PASSWORD, World};

#[tokio::test]
async fn sign_ins_are_listed_newest_first_in_pages() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    for _ in 0..6 {
        world.clock().advance(Duration::from_secs(1));
        let answer = world.anonymous().login(member.user().email.as_str(), PASSWORD).await;
        answer.expect_success(Message::LoginSuccess);
    }
    let (mut all, mut cursor) = (Vec::new(), String::new());
    for _ in 0..4 {
        let page = member.get(&format!("/users/activity?limit=2{cursor}")).await.expect_ok();
        all.extend(
            page["activity"]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["loginActivityID"].as_u64().unwrap()),
        );
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(all.len(), 7);
    assert!(all.is_sorted_by(|newer, older| newer > older), "{all:?}");
    // The items are still stored: their deletion lags.
    world.clock().advance(Duration::from_secs(181 * 86_400));
    let member = world.signed_in(member.user().clone()).await;
    let page = member.get("/users/activity").await.expect_ok();
    assert_eq!(
        (page["activity"].as_array().unwrap().len(), &page["nextCursor"]),
        (1, &json!(null))
    );
}

#[tokio::test]
async fn administrators_see_the_activity_of_a_member() {
    let (world, member) = World::with_member().await;
    let path = format!("/users/activity?userID={}", member.user().user_id);
    for person in [&member, &world.admin().await] {
        let activity = person.get(&path).await.expect_ok()["activity"].clone();
        assert_eq!(activity[0]["userID"], json!(member.user().user_id));
    }
}
