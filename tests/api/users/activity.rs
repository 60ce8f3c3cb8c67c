use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{PASSWORD, Someone, World};

#[tokio::test]
async fn every_sign_in_is_listed_newest_first_page_by_page() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    for _ in 0..6 {
        world.clock().advance(Duration::from_secs(1));
        world
            .stranger()
            .login(member.user().email.as_str(), PASSWORD)
            .await
            .tells(Message::LoginSuccess);
    }
    let (mut all, mut cursor) = (Vec::new(), String::new());
    for _ in 0..4 {
        let page = member
            .get(&format!("/users/activity?limit=2{cursor}"))
            .await
            .shows();
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
    world.clock().advance(Duration::from_secs(181 * 86_400));
}

#[tokio::test]
async fn administrators_see_others_of_their_committee() {
    let world = World::new().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let (near, far) = (
        world.member().await,
        world
            .person(Someone::with(Profile::Member).of(elsewhere))
            .await,
    );
    let path = |person: &tests::Person| format!("/users/activity?userID={}", person.user().user_id);
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    assert_eq!(
        admin.get(&path(&near)).await.shows()["activity"][0]["userID"],
        json!(near.user().user_id)
    );
    admin
        .get(&path(&far))
        .await
        .refuses(ErrorCode::UserNotFound);
    admin
        .get("/users/activity?userID=x")
        .await
        .refuses(ErrorCode::UserNotFound);
    world.admin().await.get(&path(&far)).await.shows();
    for someone in [
        Someone::with(Profile::Member),
        Someone::with(Profile::Trainer),
    ] {
        world
            .person(someone)
            .await
            .get(&path(&near))
            .await
            .refuses(ErrorCode::Forbidden);
    }
    near.get(&path(&near)).await.shows();
}
