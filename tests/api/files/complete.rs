use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::{ErrorCode, Message};
use futures_util::future::join_all;
use serde_json::json;
use tests::World;

use super::{content, payload, send, sizes, uploaded_only};

#[tokio::test]
async fn complete_needs_upload_and_is_idempotent() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let path = format!("/files/{}/complete", announced["file"]["fileID"].as_str().unwrap());
    member.post(&path, json!({})).await.expect_error(ErrorCode::FileNotUploaded);
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let calls = (0..10).map(|_| {
        let (member, path) = (member.clone(), path.clone());
        tokio::spawn(async move {
            member.post(&path, json!({})).await.expect_success(Message::FileReady)["file"].clone()
        })
    });
    let files: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(files.iter().all(|file| *file == files[0] && file["status"] == "READY"));
    // The bucket is not asked about a file that is ready.
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    member.post(&path, json!({})).await.expect_success(Message::FileReady);
}

#[tokio::test]
async fn complete_moves_the_upload_to_a_key_that_no_form_names() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let id = announced["file"]["fileID"].as_str().unwrap();
    assert_eq!(announced["upload"]["fields"]["key"], format!("uploads/{id}"));
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    assert_eq!(sizes(&world, id).await, [Some(5), None]);
    member.post(&format!("/files/{id}/complete"), json!({})).await.expect_ok();
    assert_eq!(sizes(&world, id).await, [None, Some(5)]);
    assert_eq!(content(&member, id).await, "hallo");
}

#[tokio::test]
async fn upload_after_complete_does_not_change_what_is_served() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let id = announced["file"]["fileID"].as_str().unwrap();
    for text in [b"hallo", b"autre", b"hallo", b"autre"] {
        assert_eq!(send(&announced["upload"], text).await, 204);
        member.post(&format!("/files/{id}/complete"), json!({})).await.expect_ok();
        assert_eq!(content(&member, id).await, "hallo");
    }
    world.clock().advance(Duration::from_secs(2 * 3600));
    world.sweep().await;
    assert_eq!(content(&member, id).await, "hallo");
}

#[tokio::test]
async fn content_that_a_failed_call_has_moved_stays() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let id = announced["file"]["fileID"].as_str().unwrap();
    let path = format!("/files/{id}/complete");
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    world.inject_fault_in(Service::S3, Fault::new(Mode::Silent).on("CopyObject"));
    assert_eq!(member.post(&path, json!({})).await.status, 503);
    world.clear_faults();
    assert_eq!(send(&announced["upload"], b"autre").await, 204);
    member.post(&path, json!({})).await.expect_success(Message::FileReady);
    assert_eq!(sizes(&world, id).await, [None, Some(5)]);
    assert_eq!(content(&member, id).await, "hallo");
}

#[tokio::test]
async fn upload_replaced_between_look_and_copy_is_not_taken_for_the_first() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let id = announced["file"]["fileID"].as_str().unwrap();
    let path = format!("/files/{id}/complete");
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let replace = async {
        assert_eq!(send(&announced["upload"], b"autre").await, 204);
    };
    let complete = member.post(&path, json!({}));
    let answer = world.overtaken(("CopyObject", id), complete, replace).await;
    assert_eq!(answer.status, 503);
    assert_eq!(sizes(&world, id).await, [Some(5), None], "nothing was copied");
    member.post(&path, json!({})).await.expect_success(Message::FileReady);
    assert_eq!(content(&member, id).await, "autre");
}

#[tokio::test]
async fn upload_of_another_size_than_announced_is_not_completed() {
    let (world, member) = World::with_member().await;
    let id = uploaded_only(&member, payload("a.txt", 5), b"hallo").await;
    // The form takes no other size; what has access to the bucket can.
    std::fs::write(world.folder().join(cloud::BUCKET).join("uploads").join(&id), b"more").unwrap();
    let answer = member.post(&format!("/files/{id}/complete"), json!({})).await;
    answer.expect_error(ErrorCode::FileNotUploaded);
    assert_eq!(sizes(&world, &id).await[1], None);
}

#[tokio::test]
async fn complete_of_a_file_that_is_deleted_meanwhile_returns_404() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let id = announced["file"]["fileID"].as_str().unwrap();
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let mut slow = Fault::new(Mode::Slow).on("CopyObject").times(1);
    slow.delay_ms = Some(1_000);
    world.inject_fault_in(Service::S3, slow);
    let path = format!("/files/{id}/complete");
    let (completed, ()) = tokio::join!(member.post(&path, json!({})), async {
        world.faults_have_occurred().await;
        member.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
        world.deliver().await;
    });
    completed.expect_error(ErrorCode::FileNotFound);
}

#[tokio::test]
async fn complete_by_another_account_returns_404() {
    let world = World::new().await;
    let (member, other) = (world.member().await, world.member().await);
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let path = format!("/files/{}", announced["file"]["fileID"].as_str().unwrap());
    for person in [other, world.admin().await] {
        let answer = person.post(&format!("{path}/complete"), json!({})).await;
        answer.expect_error(ErrorCode::FileNotFound);
        person.get(&path).await.expect_error(ErrorCode::FileNotFound);
        person.delete(&path).await.expect_error(ErrorCode::FileNotFound);
    }
    member.post("/files/x/complete", json!({})).await.expect_error(ErrorCode::FileNotFound);
}

#[tokio::test]
async fn bucket_failure_returns_500_or_503_and_loses_nothing() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let id = announced["file"]["fileID"].as_str().unwrap();
    let path = format!("/files/{id}/complete");
    // The bucket stores the file and loses the response.
    world.inject_fault_in(Service::S3, Fault::new(Mode::Silent).on("PostObject"));
    let lost_upload = tokio::spawn({
        let upload = announced["upload"].clone();
        async move { send(&upload, b"hallo").await }
    });
    assert!(lost_upload.await.is_err(), "the response was lost");
    for operation in ["HeadObject", "CopyObject", "DeleteObject"] {
        for mode in [Mode::Refuse, Mode::Throttle, Mode::Silent, Mode::Error] {
            world.inject_fault_in(Service::S3, Fault::new(mode).on(operation));
            let response = member.post(&path, json!({})).await;
            assert!(
                [500, 503].contains(&response.status),
                "{operation} {mode:?}: {}",
                response.status
            );
        }
    }
    world.clear_faults();
    member.post(&path, json!({})).await.expect_success(Message::FileReady);
    assert_eq!(content(&member, id).await, "hallo");
}

#[tokio::test]
async fn sweep_completes_what_an_interrupted_call_began() {
    let (world, member) = World::with_member().await;
    let mut ids = Vec::new();
    for operation in ["CopyObject", "DeleteObject"] {
        let id = uploaded_only(&member, payload("a.txt", 5), b"hallo").await;
        world.inject_fault_in(Service::S3, Fault::new(Mode::Silent).on(operation));
        assert_eq!(member.post(&format!("/files/{id}/complete"), json!({})).await.status, 503);
        world.clear_faults();
        let shown = member.get(&format!("/files/{id}")).await.expect_ok();
        assert_eq!(shown["file"]["status"], "PENDING");
        ids.push(id);
    }
    world.clock().advance(Duration::from_secs(3601));
    world.sweep().await;
    for id in &ids {
        assert_eq!(sizes(&world, id).await, [None, Some(5)]);
        assert_eq!(content(&member, id).await, "hallo");
    }
}

#[tokio::test]
async fn sweep_settles_pending_files_after_an_hour() {
    let (world, member) = World::with_member().await;
    let sent = member.post("/files", payload("a.txt", 5)).await.expect_created();
    assert_eq!(send(&sent["upload"], b"hallo").await, 204);
    let never = member.post("/files", payload("b.txt", 5)).await.expect_created();
    world.clock().advance(Duration::from_secs(3590));
    world.deliver().await;
    world.sweep().await;
    let page = member.get("/files/my-files").await.expect_ok();
    assert_eq!(json!([page["usage"]["files"], page["files"][1]["status"]]), json!([2, "PENDING"]));
    // The bucket is unreachable when the file is due: the status stays.
    world.clock().advance(Duration::from_secs(20));
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    world.sweep().await;
    world.clear_faults();
    assert_eq!(member.get("/files/my-files").await.expect_ok()["usage"]["files"], 2);
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    let page = member.get("/files/my-files").await.expect_ok();
    assert_eq!(page["usage"], json!({ "files": 1, "bytes": 5, "quotaBytes": 1_000_000_000 }));
    assert_eq!(
        (page["files"].as_array().unwrap().len(), &page["files"][0]["status"]),
        (1, &json!("READY"))
    );
    assert_eq!(page["files"][0]["fileID"], sent["file"]["fileID"]);
    let path = format!("/files/{}", never["file"]["fileID"].as_str().unwrap());
    member.post(&format!("{path}/complete"), json!({})).await.expect_error(ErrorCode::FileNotFound);
    world.deliver().await;
    world.clock().advance(Duration::from_secs(301));
    world.sweep().await;
    assert_eq!(world.items_of("FILE#").len(), 1);
}
