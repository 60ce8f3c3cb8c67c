use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::{ErrorCode, Message};
use domain::{FileId, Profile, file::FORM_LIFE};
use futures_util::future::join_all;
use serde_json::json;
use tests::{NewPerson, World};

use super::{bucket, fetch, payload, send, sizes, uploaded_file, uploaded_only};

fn files_left(world: &World) -> usize {
    world.items_of("FILE#").len()
}

#[tokio::test]
async fn deleted_file_is_gone_and_its_quota_is_freed() {
    let (world, member) = World::with_member().await;
    let id = uploaded_file(&member, payload("a.txt", 5), b"hallo").await;
    let answer = member.get(&format!("/files/{id}")).await;
    let url = answer.expect_ok()["file"]["url"].as_str().unwrap().to_owned();
    member.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
    let page = member.get("/files/my-files").await.expect_ok();
    assert_eq!((&page["files"], &page["usage"]["bytes"]), (&json!([]), &json!(0)));
    member.get(&format!("/files/{id}")).await.expect_error(ErrorCode::FileNotFound);
    member.delete(&format!("/files/{id}")).await.expect_error(ErrorCode::FileNotFound);
    let answer = member.post(&format!("/files/{id}/complete"), json!({})).await;
    answer.expect_error(ErrorCode::FileNotFound);
    world.deliver().await;
    assert_eq!(fetch(&url).await.0, 404);
}

#[tokio::test]
async fn upload_after_deletion_is_removed_later() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let id = announced["file"]["fileID"].as_str().unwrap();
    member.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
    world.deliver().await;
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let answer = member.post(&format!("/files/{id}/complete"), json!({})).await;
    answer.expect_error(ErrorCode::FileNotFound);
    assert_eq!(sizes(&world, id).await, [Some(5), None]);
    world.sweep().await;
    assert_eq!(files_left(&world), 1, "its form is still valid");
    world.clock().advance(Duration::from_secs(901));
    world.sweep().await;
    assert_eq!((sizes(&world, id).await, files_left(&world)), ([None, None], 0));
}

#[tokio::test]
async fn completion_during_deletion_leaves_nothing() {
    let (world, member) = World::with_member().await;
    let announced = member.post("/files", payload("a.txt", 5)).await.expect_created();
    let path = format!("/files/{}", announced["file"]["fileID"].as_str().unwrap());
    assert_eq!(send(&announced["upload"], b"hallo").await, 204);
    let id = announced["file"]["fileID"].as_str().unwrap();
    let delete = async {
        member.delete(&path).await.expect_success(Message::FileDeleted);
        world.deliver().await;
    };
    let completing = format!("{path}/complete");
    let complete = member.post(&completing, json!({}));
    let answer = world.overtaken(("CopyObject", id), complete, delete).await;
    answer.expect_error(ErrorCode::FileNotFound);
    member.get(&path).await.expect_error(ErrorCode::FileNotFound);
    world.clock().advance(Duration::from_secs(901));
    world.sweep().await;
    assert_eq!((sizes(&world, id).await, files_left(&world)), ([None, None], 0));
}

#[tokio::test]
async fn copy_that_ends_after_the_deletion_is_removed_too() {
    let (world, member) = World::with_member().await;
    let id = uploaded_file(&member, payload("a.txt", 5), b"hallo").await;
    world.clock().advance(FORM_LIFE);
    member.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
    world.deliver().await;
    assert_eq!(sizes(&world, &id).await, [None, None]);
    let key = storage::file_key(FileId::or_none(&id));
    bucket(&world).put(&key, "text/plain", None, b"hallo".as_slice().into()).await.unwrap();
    world.clock().advance(Duration::from_secs(301));
    world.sweep().await;
    assert_eq!((sizes(&world, &id).await, files_left(&world)), ([None, None], 0));
}

#[tokio::test]
async fn deletion_succeeds_while_the_bucket_is_unreachable() {
    let (world, member) = World::with_member().await;
    let id = uploaded_file(&member, payload("a.txt", 5), b"hallo").await;
    let answer = member.get(&format!("/files/{id}")).await;
    let url = answer.expect_ok()["file"]["url"].as_str().unwrap().to_owned();
    world.inject_fault_in(Service::S3, Fault::new(Mode::Refuse));
    member.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
    world.deliver().await;
    world.clear_faults();
    assert_eq!(fetch(&url).await.0, 200, "the bucket was unreachable");
    world.sweep().await;
    assert_eq!(fetch(&url).await.0, 404);
}

#[tokio::test]
async fn concurrent_deletions_free_the_quota_once() {
    let (world, member) = World::with_member().await;
    uploaded_file(&member, payload("b.txt", 7), b"bonjour").await;
    let id = uploaded_file(&member, payload("a.txt", 5), b"hallo").await;
    let calls = (0..20).map(|_| {
        let (member, path) = (member.clone(), format!("/files/{id}"));
        tokio::spawn(async move { member.delete(&path).await.status })
    });
    let statuses: Vec<u16> =
        world.race(2, join_all(calls)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 404].contains(status)), "{statuses:?}");
    assert_eq!(
        member.get("/files/my-files").await.expect_ok()["usage"],
        json!({ "files": 1, "bytes": 7, "quotaBytes": 1_000_000_000 })
    );
}

/// An upload form is valid for 15 minutes even after its file was deleted, so at most twice the quota can be uploaded.
#[tokio::test]
async fn deleted_pending_file_counts_until_its_form_expires() {
    let world = World::with(&[("FILE_QUOTA_BYTES", "100")]).await;
    let member = world.member().await;
    for _ in 0..2 {
        let announced = member.post("/files", payload("a.txt", 100)).await.expect_created();
        let id = announced["file"]["fileID"].as_str().unwrap();
        member.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
    }
    assert_eq!(member.get("/files/my-files").await.expect_ok()["usage"]["bytes"], 0);
    member.post("/files", payload("a.txt", 1)).await.expect_error(ErrorCode::FileQuotaExceeded);
    world.deliver().await;
    world.clock().advance(Duration::from_secs(901));
    world.sweep().await;
    member.post("/files", payload("a.txt", 100)).await.expect_success(Message::FileCreated);
}

#[tokio::test]
async fn public_file_is_removed_by_who_may_edit_its_owner() {
    let (world, owner) = World::with_member().await;
    let mut public = payload("a.pdf", 5);
    public["visibility"] = json!("public");
    public["contentType"] = json!("application/pdf");
    let shown = uploaded_file(&owner, public, b"hallo").await;
    let private = uploaded_file(&owner, payload("b.txt", 5), b"hallo").await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let elsewhere = world.another_committee("Comité de Gabès", true).await;
    let foreign = world.person(NewPerson::with(Profile::CommitteeAdmin).of(elsewhere)).await;
    let path = format!("/files/{shown}");
    for person in [&world.member().await, &foreign] {
        person.delete(&path).await.expect_error(ErrorCode::Forbidden);
    }
    let answer = admin.delete(&format!("/files/{private}")).await;
    answer.expect_error(ErrorCode::FileNotFound);
    // Also while the owner is suspended.
    admin.set_active(owner.user().user_id, false).await;
    foreign.delete(&path).await.expect_error(ErrorCode::FileNotFound);
    admin.delete(&path).await.expect_success(Message::FileDeleted);
    admin.delete(&path).await.expect_error(ErrorCode::FileNotFound);
    let audit = admin.get("/audit").await.expect_ok()["audit"][0].clone();
    assert_eq!((&audit["action"], &audit["targetID"]), (&json!("FILE_REMOVED"), &json!(shown)));
}

#[tokio::test]
async fn owner_is_told_of_a_removed_file_and_its_name_if_verified() {
    let (world, admin) = World::with_admin().await;
    let unverified = NewPerson::with(Profile::Member).unverified();
    for (new, is_named) in [(NewPerson::with(Profile::Member), true), (unverified, false)] {
        // `isVerified` from an administrator does not verify the mailbox.
        let id = world.person(new).await.user().user_id;
        admin.change_member(id, json!({ "isVerified": true })).await;
        let owner = world.signed_in(world.user(id).await).await;
        let mut public = payload("a.pdf", 5);
        public["visibility"] = json!("public");
        public["contentType"] = json!("application/pdf");
        let id = uploaded_file(&owner, public, b"hallo").await;
        admin.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
        let mail = world.mails(owner.user().email.as_str()).await[0].clone();
        assert_eq!(mail["subject"], "Un de vos fichiers Halqa a été supprimé");
        assert_eq!(mail["text"].to_string().contains("a.pdf"), is_named, "{mail}");
    }
}

#[tokio::test]
async fn file_removed_by_two_workers_frees_its_room_once() {
    let (world, member) = World::with_member().await;
    let id = uploaded_file(&member, payload("a.txt", 5), b"hallo").await;
    uploaded_file(&member, payload("b.txt", 5), b"hallo").await;
    member.delete(&format!("/files/{id}")).await.expect_success(Message::FileDeleted);
    let store = &world.setup().store;
    let later = world.clock().now().after(Duration::from_secs(86_400));
    let file = store.due_file(FileId::or_none(&id), later).await.unwrap().unwrap();
    for _ in 0..2 {
        store.delete_file(&file).await.unwrap();
    }
    let usage = world.items_of(&format!("USAGE#{}", member.user().user_id));
    assert_eq!(usage[0]["taken"]["N"], "5");
}

#[tokio::test]
async fn file_that_became_ready_meanwhile_is_not_postponed() {
    let (world, member) = World::with_member().await;
    let id = uploaded_only(&member, payload("a.txt", 5), b"hallo").await;
    let store = &world.setup().store;
    let pending = store.file(FileId::or_none(&id)).await.unwrap().unwrap();
    member.post(&format!("/files/{id}/complete"), json!({})).await.expect_ok();
    store.postpone_file(&pending, world.clock().now()).await.unwrap();
    assert!(world.items_of("FILE#")[0]["dueAt"].is_null());
}
