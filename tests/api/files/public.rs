use common::{ErrorCode, Message};
use domain::Profile;
use http::Method;
use serde_json::{Value, json};
use tests::{NewPerson, World};

use super::{fetch, payload, uploaded_file};

fn public(name: &str, content_type: &str, size: usize) -> Value {
    json!({ "name": name, "contentType": content_type, "size": size, "visibility": "public" })
}

#[tokio::test]
async fn public_file_redirects_any_caller_to_its_link() {
    let world = World::new().await;
    let (member, anonymous) = (world.member().await, world.anonymous());
    let id = uploaded_file(&member, public("برنامج.pdf", "application/pdf", 5), b"hallo").await;
    let path = format!("/files/public/{id}");
    assert_eq!(member.get("/files/my-files").await.expect_ok()["files"][0]["url"], json!(path));
    for person in [
        anonymous.clone(),
        anonymous.with_token("Bearer rubbish"),
        anonymous.with("accept", "text/html, application/json;q=0.0, */*"),
        member.clone(),
    ] {
        let sent = person.get(&path).await;
        assert_eq!((sent.status, sent.json()), (302, json!({ "code": 302 })));
        assert_eq!(
            (sent.header("vary"), member.get("/files/my-files").await.header("cache-control")),
            ("Accept", "no-store")
        );
        assert_eq!(
            (sent.header("cache-control"), sent.header("x-ratelimit-limit")),
            ("no-store", "100")
        );
        let (status, headers, body) = fetch(sent.header("location")).await;
        assert_eq!((status, &body[..]), (200, b"hallo".as_slice()));
        assert!(
            headers["content-disposition"].to_str().unwrap().starts_with("inline; filename=\"")
        );
    }
    let head = anonymous.send(Method::HEAD, &format!("/api/v1{path}"), "".into()).await;
    assert_eq!((head.status, head.body.len()), (302, 0));
    for accept in
        ["application/json", "Application/JSON; q=0.9, */*", "application/json, text/plain, */*"]
    {
        let file = anonymous.with("accept", accept).get(&path).await.expect_ok()["file"].clone();
        assert_eq!((&file["name"], &file["status"]), (&json!("برنامج.pdf"), &json!("READY")));
        assert_eq!(fetch(file["url"].as_str().unwrap()).await.0, 200);
    }
}

#[tokio::test]
async fn private_pending_deleted_and_unknown_files_return_same_404() {
    let world = World::new().await;
    let (member, anonymous) = (world.member().await, world.anonymous());
    let private = uploaded_file(&member, payload("a.txt", 5), b"hallo").await;
    let pending = member.post("/files", public("a.txt", "text/plain", 5)).await.expect_created();
    let pending = pending["file"]["fileID"].as_str().unwrap().to_owned();
    let deleted = uploaded_file(&member, public("a.txt", "text/plain", 5), b"hallo").await;
    member.delete(&format!("/files/{deleted}")).await.expect_success(Message::FileDeleted);
    let mut bodies = Vec::new();
    for id in [private.as_str(), &pending, &deleted, "x", "0198c0de-0000-7000-8000-00000000000a"] {
        for person in [&anonymous, &member] {
            let answer = person.get(&format!("/files/public/{id}")).await;
            answer.expect_error(ErrorCode::FileNotFound);
            bodies.push(answer.body);
        }
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[tokio::test]
async fn public_file_of_a_suspended_owner_or_closed_committee_is_hidden() {
    let (world, admin) = World::with_admin().await;
    let committee = world.another_committee("Comité de Gabès", true).await;
    let owner = world.person(NewPerson::with(Profile::Member).of(committee)).await;
    let id = uploaded_file(&owner, public("a.pdf", "application/pdf", 5), b"hallo").await;
    let path = format!("/files/public/{id}");
    let anonymous = world.anonymous();
    let is_hidden = async || {
        anonymous.get(&path).await.expect_error(ErrorCode::FileNotFound);
    };
    assert_eq!(anonymous.get(&path).await.status, 302);
    admin.set_active(owner.user().user_id, false).await;
    is_hidden().await;
    admin.set_active(owner.user().user_id, true).await;
    assert_eq!(anonymous.get(&path).await.status, 302);
    let closed = json!({ "isActive": false });
    admin.put(&format!("/committees/{committee}"), closed).await.expect_ok();
    is_hidden().await;
}
