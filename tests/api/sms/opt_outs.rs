//! `GET /sms/opt-outs`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, World};

use super::numbers;

#[tokio::test]
async fn opt_outs_are_listed_newest_first_in_pages() {
    let world = World::new().await;
    let (admin, root) =
        (world.person(NewPerson::with(Profile::CommitteeAdmin)).await, world.admin().await);
    let mut noted = numbers(5);
    for number in &noted {
        world.clock().advance(Duration::from_millis(2));
        admin
            .put(&format!("/sms/opt-outs/{number}"), json!({}))
            .await
            .expect_success(Message::OptOutAdded);
    }
    noted.reverse();
    let (mut listed, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/sms/opt-outs?limit=2{cursor}")).await.expect_ok();
        listed.extend(
            page["optOuts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["number"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(listed, noted);
    assert_eq!(
        root.get("/sms/opt-outs").await.expect_ok()["optOuts"],
        json!([]),
        "the list for all committees is separate"
    );
    let own =
        root.get(&format!("/sms/opt-outs?committeeID={}", world.committee())).await.expect_ok();
    assert_eq!(own["optOuts"].as_array().unwrap().len(), 5);
    world.member().await.get("/sms/opt-outs").await.expect_error(ErrorCode::Forbidden);
}
