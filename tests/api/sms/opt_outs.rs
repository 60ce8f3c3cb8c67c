//! `GET /sms/opt-outs`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{Someone, World};

use super::numbers;

#[tokio::test]
async fn the_numbers_of_a_list_come_newest_first_page_by_page() {
    let world = World::new().await;
    let (admin, root) = (
        world.person(Someone::with(Profile::CommitteeAdmin)).await,
        world.admin().await,
    );
    let mut noted = numbers(5);
    for number in &noted {
        world.clock().advance(Duration::from_millis(2));
        admin
            .put(&format!("/sms/opt-outs/{number}"), json!({}))
            .await
            .tells(Message::OptOutAdded);
    }
    noted.reverse();
    let (mut listed, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin
            .get(&format!("/sms/opt-outs?limit=2{cursor}"))
            .await
            .shows();
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
        root.get("/sms/opt-outs").await.shows()["optOuts"],
        json!([]),
        "the list that holds for all is another"
    );
    let own = root
        .get(&format!("/sms/opt-outs?committeeID={}", world.committee()))
        .await
        .shows();
    assert_eq!(own["optOuts"].as_array().unwrap().len(), 5);
    world
        .member()
        .await
        .get("/sms/opt-outs")
        .await
        .refuses(ErrorCode::Forbidden);
}
