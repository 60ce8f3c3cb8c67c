use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, PASSWORD, World};

#[tokio::test]
async fn sign_ins_are_listed_newest_first_in_pages() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    for _ in 0..6 {
        world.clock().advance(Duration::from_secs(1));
        world
            .anonymous()
            .login(member.user().email.as_str(), PASSWORD)
            .await
            .expect_success(Message::LoginSuccess);
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
async fn administrators_see_the_activity_of_their_committee() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let (near, far) =
        (world.member().await, world.person(NewPerson::with(Profile::Member).of(elsewhere)).await);
    let path = |person: &tests::Person| format!("/users/activity?userID={}", person.user().user_id);
    let admin = world.person(NewPerson::with(Profile::CommitteeAdmin)).await;
    assert_eq!(
        admin.get(&path(&near)).await.expect_ok()["activity"][0]["userID"],
        json!(near.user().user_id)
    );
    admin.get(&path(&far)).await.expect_error(ErrorCode::UserNotFound);
    admin.get("/users/activity?userID=x").await.expect_error(ErrorCode::UserNotFound);
    world.admin().await.get(&path(&far)).await.expect_ok();
    for someone in [NewPerson::with(Profile::Member), NewPerson::with(Profile::Trainer)] {
        world.person(someone).await.get(&path(&near)).await.expect_error(ErrorCode::Forbidden);
    }
    near.get(&path(&near)).await.expect_ok();
}
