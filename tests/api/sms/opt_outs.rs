//! `GET /sms/opt-outs`.

use std::time::Duration;

use domain::Profile;
use serde_json::json;
use tests::World;

use super::{listed, numbers};

#[tokio::test]
async fn opt_outs_are_listed_newest_first_in_pages() {
    let world = World::new().await;
    let (admin, root) = (world.person(Profile::CommitteeAdmin).await, world.admin().await);
    let mut noted = numbers(5);
    for number in &noted {
        world.clock().advance(Duration::from_millis(2));
        admin.put(&format!("/sms/opt-outs/{number}"), json!({})).await.expect_ok();
    }
    noted.reverse();
    assert_eq!(listed(&admin, "/sms/opt-outs?limit=2", "optOuts", "number").await, noted);
    assert_eq!(
        root.get("/sms/opt-outs").await.expect_ok()["optOuts"],
        json!([]),
        "the list for all committees is separate"
    );
    let own =
        root.get(&format!("/sms/opt-outs?committeeID={}", world.committee())).await.expect_ok();
    assert_eq!(own["optOuts"].as_array().unwrap().len(), 5);
}
