use std::time::Duration;

use common::{ErrorCode, Message};
use serde_json::{Value, json};
use tests::World;

use super::wish;

#[tokio::test]
async fn ones_own_are_listed_newest_first_page_by_page() {
    let world = World::new().await;
    let (member, other) = (world.member().await, world.member().await);
    other
        .post("/files", wish("foreign.txt", 7))
        .await
        .tells(Message::FileCreated);
    for number in 0..5 {
        world.clock().advance(Duration::from_millis(2));
        member
            .post("/files", wish(&format!("{number}.txt"), 10))
            .await
            .tells(Message::FileCreated);
    }
    let (mut names, mut cursor) = (Vec::new(), String::new());
    loop {
        let shown = member
            .get(&format!("/files/my-files?limit=2{cursor}"))
            .await
            .shows();
        assert_eq!(
            shown["usage"],
            json!({ "files": 5, "bytes": 50, "quotaBytes": 1_000_000_000 })
        );
        names.extend(
            shown["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|file| file["name"].clone()),
        );
        match &shown["nextCursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => break,
        }
    }
    assert_eq!(
        names,
        (0..5)
            .rev()
            .map(|number| json!(format!("{number}.txt")))
            .collect::<Vec<Value>>()
    );
    other
        .get(&format!("/files/my-files?limit=2{cursor}"))
        .await
        .refuses_field("cursor", ErrorCode::InvalidCursor);
    world
        .stranger()
        .get("/files/my-files")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}
