use std::time::Duration;

use common::{ErrorCode, Message};
use futures_util::future::join_all;
use local::faults::{Fault, Mode, Service};
use serde_json::json;
use tests::World;

use super::{payload, send};

#[tokio::test]
async fn complete_needs_upload_and_is_idempotent() {
    let world = World::new().await;
    let member = world.member().await;
    let announced = member
        .post("/files", payload("a.txt", 5))
        .await
        .expect_success(Message::FileCreated);
    let path = format!(
        "/files/{}/complete",
        announced["file"]["fileID"].as_str().unwrap()
    );
    member
        .post(&path, json!({}))
        .await
        .expect_error(ErrorCode::FileNotUploaded);
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let calls = (0..10).map(|_| {
        let (member, path) = (member.clone(), path.clone());
        tokio::spawn(async move {
            member
                .post(&path, json!({}))
                .await
                .expect_success(Message::FileReady)["file"]
                .clone()
        })
    });
    let files: Vec<_> = join_all(calls)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert!(
        files
            .iter()
            .all(|file| *file == files[0] && file["status"] == "READY")
    );
    // The bucket is not asked about a file that is ready.
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    member
        .post(&path, json!({}))
        .await
        .expect_success(Message::FileReady);
}

#[tokio::test]
async fn complete_by_another_account_returns_404() {
    let world = World::new().await;
    let (member, other) = (world.member().await, world.member().await);
    let announced = member
        .post("/files", payload("a.txt", 5))
        .await
        .expect_success(Message::FileCreated);
    let path = format!("/files/{}", announced["file"]["fileID"].as_str().unwrap());
    for person in [other, world.admin().await] {
        person
            .post(&format!("{path}/complete"), json!({}))
            .await
            .expect_error(ErrorCode::FileNotFound);
        person
            .get(&path)
            .await
            .expect_error(ErrorCode::FileNotFound);
        person
            .delete(&path)
            .await
            .expect_error(ErrorCode::FileNotFound);
    }
    member
        .post("/files/x/complete", json!({}))
        .await
        .expect_error(ErrorCode::FileNotFound);
}

#[tokio::test]
async fn bucket_failure_returns_500_or_503_and_loses_nothing() {
    let world = World::new().await;
    let member = world.member().await;
    let announced = member
        .post("/files", payload("a.txt", 5))
        .await
        .expect_success(Message::FileCreated);
    let id = announced["file"]["fileID"].as_str().unwrap();
    let path = format!("/files/{id}/complete");
    // The bucket stores the file and loses the response.
    world.inject_fault_in(Service::S3, Fault::new(Mode::Silent).on("PostObject"));
    let lost_upload = tokio::spawn({
        let upload = announced["upload"].clone();
        async move { send(&upload, b"hallo").await }
    });
    assert!(lost_upload.await.is_err(), "the response was lost");
    for mode in [Mode::Refuse, Mode::Throttle, Mode::Silent, Mode::Error] {
        world.inject_fault_in(Service::S3, Fault::new(mode).on("HeadObject"));
        let response = member.post(&path, json!({})).await;
        assert!(
            [500, 503].contains(&response.status),
            "{mode:?}: {}",
            response.status
        );
    }
    world.clear_faults();
    member
        .post(&path, json!({}))
        .await
        .expect_success(Message::FileReady);
}

#[tokio::test]
async fn sweep_settles_pending_files_after_an_hour() {
    let world = World::new().await;
    let member = world.member().await;
    let sent = member
        .post("/files", payload("a.txt", 5))
        .await
        .expect_success(Message::FileCreated);
    assert_eq!(send(&sent["upload"], b"hallo").await, 204);
    let never = member
        .post("/files", payload("b.txt", 5))
        .await
        .expect_success(Message::FileCreated);
    world.clock().advance(Duration::from_secs(3590));
    world.deliver().await;
    world.sweep().await;
    let page = member.get("/files/my-files").await.expect_ok();
    assert_eq!(
        (&page["usage"]["files"], &page["files"][1]["status"]),
        (&json!(2), &json!("PENDING"))
    );
    // The bucket is unreachable when the file is due: the status stays.
    world.clock().advance(Duration::from_secs(20));
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    world.sweep().await;
    world.clear_faults();
    assert_eq!(
        member.get("/files/my-files").await.expect_ok()["usage"]["files"],
        2
    );
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    let page = member.get("/files/my-files").await.expect_ok();
    assert_eq!(
        page["usage"],
        json!({ "files": 1, "bytes": 5, "quotaBytes": 1_000_000_000 })
    );
    assert_eq!(
        (
            page["files"].as_array().unwrap().len(),
            &page["files"][0]["status"]
        ),
        (1, &json!("READY"))
    );
    assert_eq!(page["files"][0]["fileID"], sent["file"]["fileID"]);
    let path = format!("/files/{}", never["file"]["fileID"].as_str().unwrap());
    member
        .post(&format!("{path}/complete"), json!({}))
        .await
        .expect_error(ErrorCode::FileNotFound);
    world.deliver().await;
    world.sweep().await;
    let left = world
        .items("records")
        .into_iter()
        .filter(|item| item["pk"]["S"].as_str().unwrap().starts_with("FILE#"));
    assert_eq!(left.count(), 1);
}
