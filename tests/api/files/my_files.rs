use std::time::Duration;

use common::{ErrorCode, Message};
use serde_json::{Value, json};
use tests::World;

use super::payload;

#[tokio::test]
async fn own_files_are_listed_newest_first_in_pages() {
    let world = World::new().await;
    let (member, other) = (world.member().await, world.member().await);
    other.post("/files", payload("foreign.txt", 7)).await.expect_success(Message::FileCreated);
    for number in 0..5 {
        world.clock().advance(Duration::from_millis(2));
        member.post("/files", payload(&format!("{number}.txt"), 10)).await.expect_created();
    }
    let page = member.get("/files/my-files?limit=2").await.expect_ok();
    assert_eq!(page["usage"], json!({ "files": 5, "bytes": 50, "quotaBytes": 1_000_000_000 }));
    let files = member.pages("/files/my-files?limit=2", "files").await;
    let names: Vec<Value> = files.iter().map(|file| file["name"].clone()).collect();
    assert_eq!(
        names,
        (0..5).rev().map(|number| json!(format!("{number}.txt"))).collect::<Vec<Value>>()
    );
    let cursor = page["nextCursor"].as_str().unwrap();
    let answer = other.get(&format!("/files/my-files?limit=2&cursor={cursor}")).await;
    answer.expect_field_error("cursor", ErrorCode::InvalidCursor);
}
