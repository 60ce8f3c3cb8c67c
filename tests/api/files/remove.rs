use std::time::Duration;

use common::{ErrorCode, Message};
use futures_util::future::join_all;
use local::faults::{Fault, Mode, Service};
use serde_json::json;
use tests::World;

use super::{fetch, kept, send, wish};

fn files_left(world: &World) -> usize {
    world
        .items("records")
        .iter()
        .filter(|item| item["pk"]["S"].as_str().unwrap().starts_with("FILE#"))
        .count()
}

#[tokio::test]
async fn a_deleted_file_is_gone_and_its_room_is_free() {
    let world = World::new().await;
    let member = world.member().await;
    let id = kept(&member, wish("a.txt", 5), b"hallo").await;
    let url = member.get(&format!("/files/{id}")).await.shows()["file"]["url"]
        .as_str()
        .unwrap()
        .to_owned();
    member
        .delete(&format!("/files/{id}"))
        .await
        .tells(Message::FileDeleted);
    let shown = member.get("/files/my-files").await.shows();
    assert_eq!(
        (&shown["files"], &shown["usage"]["bytes"]),
        (&json!([]), &json!(0))
    );
    member
        .get(&format!("/files/{id}"))
        .await
        .refuses(ErrorCode::FileNotFound);
    member
        .delete(&format!("/files/{id}"))
        .await
        .refuses(ErrorCode::FileNotFound);
    member
        .post(&format!("/files/{id}/complete"), json!({}))
        .await
        .refuses(ErrorCode::FileNotFound);
    world.deliver().await;
    assert_eq!(fetch(&url).await.0, 404);
}

#[tokio::test]
async fn what_a_form_brings_back_later_goes_too() {
    let world = World::new().await;
    let member = world.member().await;
    let announced = member
        .post("/files", wish("a.txt", 5))
        .await
        .tells(Message::FileCreated);
    let id = announced["file"]["fileID"].as_str().unwrap();
    member
        .delete(&format!("/files/{id}"))
        .await
        .tells(Message::FileDeleted);
    world.deliver().await;
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let objects = storage::Objects::new(&world.setup().aws, &world.setup().settings).unwrap();
    let size = async || {
        objects
            .size(announced["upload"]["fields"]["key"].as_str().unwrap())
            .await
            .unwrap()
    };
    assert_eq!((size().await, files_left(&world)), (Some(5), 1));
    world.sweep().await;
    assert_eq!(files_left(&world), 1, "its form is good for a while");
    world.clock().advance(Duration::from_secs(901));
    world.sweep().await;
    world.clock().step_back(Duration::from_secs(901));
    assert_eq!((size().await, files_left(&world)), (None, 0));
}

#[tokio::test]
async fn deleting_survives_a_bucket_on_a_bad_day() {
    let world = World::new().await;
    let member = world.member().await;
    let id = kept(&member, wish("a.txt", 5), b"hallo").await;
    let url = member.get(&format!("/files/{id}")).await.shows()["file"]["url"]
        .as_str()
        .unwrap()
        .to_owned();
    world.strike_at(Service::S3, Fault::new(Mode::Refuse));
    member
        .delete(&format!("/files/{id}"))
        .await
        .tells(Message::FileDeleted);
    world.deliver().await;
    world.heal();
    assert_eq!(fetch(&url).await.0, 200, "it could not be removed yet");
    world.sweep().await;
    assert_eq!(fetch(&url).await.0, 404);
}

#[tokio::test]
async fn deleted_by_many_at_once_its_room_is_freed_once() {
    let world = World::new().await;
    let member = world.member().await;
    kept(&member, wish("b.txt", 7), b"bonjour").await;
    let id = kept(&member, wish("a.txt", 5), b"hallo").await;
    let calls = (0..20).map(|_| {
        let (member, path) = (member.clone(), format!("/files/{id}"));
        tokio::spawn(async move { member.delete(&path).await.status })
    });
    let statuses: Vec<u16> = join_all(calls)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        statuses.iter().filter(|status| **status == 200).count(),
        1,
        "{statuses:?}"
    );
    assert!(
        statuses.iter().all(|status| [200, 404].contains(status)),
        "{statuses:?}"
    );
    assert_eq!(
        member.get("/files/my-files").await.shows()["usage"],
        json!({ "files": 1, "bytes": 7, "quotaBytes": 1_000_000_000 })
    );
}

/// A form is good for a quarter of an hour, whatever becomes of its file: who gives files up and sends them all
/// the same has twice his quota in the bucket, and no more.
#[tokio::test]
async fn what_was_given_up_counts_until_it_cannot_come_back() {
    let world = World::with(&[("FILE_QUOTA_BYTES", "100")]).await;
    let member = world.member().await;
    for _ in 0..2 {
        let announced = member
            .post("/files", wish("a.txt", 100))
            .await
            .tells(Message::FileCreated);
        let id = announced["file"]["fileID"].as_str().unwrap();
        member
            .delete(&format!("/files/{id}"))
            .await
            .tells(Message::FileDeleted);
    }
    assert_eq!(
        member.get("/files/my-files").await.shows()["usage"]["bytes"],
        0
    );
    member
        .post("/files", wish("a.txt", 1))
        .await
        .refuses(ErrorCode::FileQuotaExceeded);
    world.deliver().await;
    world.clock().advance(Duration::from_secs(901));
    world.sweep().await;
    member
        .post("/files", wish("a.txt", 100))
        .await
        .tells(Message::FileCreated);
}
