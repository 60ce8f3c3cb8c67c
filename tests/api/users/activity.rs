use std::time::Duration;

use common::ErrorCode;
use domain::Profile;
use serde_json::json;
use tests::{PASSWORD, World};

#[tokio::test]
async fn sign_ins_are_listed_newest_first_in_pages() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    for _ in 0..6 {
        world.clock().advance(Duration::from_secs(1));
        world.anonymous().sign_in(member.user().email.as_str(), PASSWORD).await;
    }
    let all = member.pages("/users/activity?limit=2", "activity").await;
    let all: Vec<u64> = all.iter().map(|one| one["loginActivityID"].as_u64().unwrap()).collect();
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

#[tokio::test]
async fn committee_administrator_sees_no_activity_of_super_administrators() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    for other in [Profile::SuperAdmin, Profile::CommitteeAdmin] {
        let other = world.account(other).await;
        let path = format!("/users/activity?userID={}", other.user_id);
        admin.get(&path).await.expect_error(ErrorCode::Forbidden);
    }
}
