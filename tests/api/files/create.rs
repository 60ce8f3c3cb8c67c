use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{
    FileId,
    file::{FORM_LIFE, File},
};
use futures_util::future::join_all;
use identity::random;
use serde_json::json;
use store::CommitOutcome;
use tests::World;

use super::{payload, send, send_changed};

#[tokio::test]
async fn file_is_announced_and_uploaded_directly_to_the_bucket() {
    let (_, member) = World::with_member().await;
    let announced = member
        .post(
            "/files",
            json!({ "name": " Programme d’été.txt ", "contentType": "text/plain", "size": 5 }),
        )
        .await
        .expect_created();
    let file = &announced["file"];
    let expected = json!({
        "fileID": file["fileID"], "name": "Programme d’été.txt", "contentType": "text/plain", "size": 5, "visibility": "private",
        "status": "PENDING", "url": null, "createdAt": file["createdAt"],
    });
    assert_eq!(*file, expected);
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let id = file["fileID"].as_str().unwrap();
    assert_eq!(
        member.post(&format!("/files/{id}/complete"), json!({})).await.expect_ok()["file"]["status"],
        "READY"
    );
}

#[tokio::test]
async fn bucket_rejects_upload_that_differs_from_the_form() {
    let (_, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let upload = &announced["upload"];
    for content in [b"hall".as_slice(), b"hallo!", b"", &[b'x'; 10_000]] {
        assert_eq!(send(upload, content).await, 400, "{} bytes", content.len());
    }
    let other = member.post("/files", payload("b.txt", 5)).await.expect_created();
    for (field, value) in [
        ("Content-Type", "text/html"),
        ("Content-Type", ""),
        ("key", other["upload"]["fields"]["key"].as_str().unwrap()),
        ("key", "media/0000000000000000000000000000000000000000.png"),
        ("policy", other["upload"]["fields"]["policy"].as_str().unwrap()),
        ("x-amz-signature", &"0".repeat(64)),
    ] {
        let status = send_changed(upload, &[(field, value)], b"hallo").await;
        assert!([400, 403].contains(&status), "{field}: {value}: {status}");
    }
    let id = announced["file"]["fileID"].as_str().unwrap();
    let answer = member.post(&format!("/files/{id}/complete"), json!({})).await;
    answer.expect_error(ErrorCode::FileNotUploaded);
    assert_eq!(send(upload, b"hallo").await, 204);
}

#[tokio::test]
async fn files_of_a_day_take_at_most_three_times_the_quota() {
    let world = World::with(&[("FILE_QUOTA_BYTES", "100")]).await;
    let member = world.member().await;
    let until_midnight = Duration::from_secs(86_400) - since_midnight(&world);
    world.clock().advance(until_midnight);
    let member = world.signed_in(member.user().clone()).await;
    for hour in 0..4 {
        let answer = member.post("/files", payload("a.txt", 100)).await;
        if hour == 3 {
            answer.expect_error(ErrorCode::TooManyAttempts);
            let left = Duration::from_secs(86_400) - since_midnight(&world);
            let seconds: u64 = answer.header("retry-after").parse().unwrap();
            assert!(seconds.abs_diff(left.as_secs()) < 60, "{seconds}");
            break;
        }
        let created = answer.expect_success(Message::FileCreated);
        let path = format!("/files/{}", created["file"]["fileID"].as_str().unwrap());
        member.delete(&path).await.expect_success(Message::FileDeleted);
        world.deliver().await;
        // Its form has expired.
        world.clock().advance(Duration::from_secs(3600));
        world.sweep().await;
    }
    world.clock().advance(Duration::from_secs(86_400));
    let member = world.signed_in(member.user().clone()).await;
    member.post("/files", payload("a.txt", 100)).await.expect_success(Message::FileCreated);
}

#[tokio::test]
async fn user_has_at_most_a_thousand_files() {
    let (world, member) = World::with_member().await;
    let store = &world.setup().store;
    let file = member.post("/files", payload("a.txt", 1)).await.expect_created()["file"].clone();
    let file =
        store.file(serde_json::from_value(file["fileID"].clone()).unwrap()).await.unwrap().unwrap();
    for _ in 1..1_000 {
        let file_id = FileId::new(random::id(world.clock().now()));
        let mut tx = store.transaction();
        tx.new_file(&File { file_id, ..file.clone() }, 1_000_000);
        assert_eq!(tx.commit().await.unwrap(), CommitOutcome::Committed);
    }
    let refused = member.post("/files", payload("b.txt", 1)).await;
    refused.expect_error(ErrorCode::FileQuotaExceeded);
    let path = format!("/files/{}", file.file_id);
    member.delete(&path).await.expect_success(Message::FileDeleted);
    member.post("/files", payload("b.txt", 1)).await.expect_created();
}

fn since_midnight(world: &World) -> Duration {
    let seconds = world.clock().now().unix_seconds().rem_euclid(86_400);
    Duration::from_secs(u64::try_from(seconds).unwrap())
}

#[tokio::test]
async fn bucket_rejects_expired_form() {
    let (world, member) = World::with_member().await;
    // The bucket uses the real clock, of which the clock of the world is less than two days ahead.
    world.clock().step_back(FORM_LIFE + Duration::from_hours(48));
    let late = world
        .signed_in(member.user().clone())
        .await
        .post("/files", payload("a.txt", 5))
        .await
        .expect_created();
    assert!([400, 403].contains(&send(&late["upload"], b"hallo").await));
}

#[tokio::test]
async fn file_of_24_megabytes_is_accepted() {
    let (_, member) = World::with_member().await;
    let content = vec![b'x'; 24 * 1024 * 1024];
    let id = super::uploaded_file(&member, payload("grand.txt", content.len()), &content).await;
    let answer = member.get(&format!("/files/{id}")).await;
    let url = answer.expect_ok()["file"]["url"].as_str().unwrap().to_owned();
    assert_eq!(super::fetch(&url).await.2.len(), content.len());
}

#[tokio::test]
async fn fifty_concurrent_files_never_exceed_the_quota() {
    let world = World::with(&[("FILE_QUOTA_BYTES", "1000"), ("RATE_LIMIT", "100000")]).await;
    let member = world.member().await;
    let calls = (0..50).map(|number| {
        let member = member.clone();
        tokio::spawn(
            async move { member.post("/files", payload(&format!("{number}.txt"), 90)).await },
        )
    });
    let answers: Vec<_> =
        world.race(2, join_all(calls)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 11);
    for refused in answers.iter().filter(|answer| answer.status != 201) {
        refused.expect_error(ErrorCode::FileQuotaExceeded);
    }
    let usage = member.get("/files/my-files").await.expect_ok()["usage"].clone();
    assert_eq!(usage, json!({ "files": 11, "bytes": 990, "quotaBytes": 1000 }));
    member.post("/files", payload("b.txt", 10)).await.expect_success(Message::FileCreated);
    member.post("/files", payload("c.txt", 1)).await.expect_error(ErrorCode::FileQuotaExceeded);
    let answer = world.member().await.post("/files", payload("d.txt", 1001)).await;
    answer.expect_error(ErrorCode::FileQuotaExceeded);
}
