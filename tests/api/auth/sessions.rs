use std::time::Duration;

use common::{ErrorCode, Message};
use tests::{PASSWORD, World};

#[tokio::test]
async fn list_is_newest_first_and_marks_the_current_session() {
    let world = World::new().await;
    let old = world
        .anonymous()
        .with("user-agent", "curl/8.5.0")
        .login("admin@example.org", PASSWORD)
        .await;
    world.clock().advance(Duration::from_secs(60));
    let new = world.anonymous().login("admin@example.org", PASSWORD).await;
    let body = world
        .anonymous()
        .with_token(old.header("authorization"))
        .get("/auth/sessions")
        .await
        .expect_ok();
    let sessions = body["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    assert_eq!((&sessions[0]["current"], &sessions[1]["current"]), (&false.into(), &true.into()));
    assert_eq!(sessions[1]["browser"], "curl");
    assert!(sessions[0]["createdAt"].as_str() > sessions[1]["createdAt"].as_str());
    assert!(
        !body.to_string().contains(new.header("authorization").split('.').next_back().unwrap()),
        "no token in the list"
    );
}

#[tokio::test]
async fn delete_ends_another_session_of_the_account() {
    let world = World::new().await;
    let (here, there) = (world.admin().await, world.admin().await);
    let body = there.get("/auth/sessions").await.expect_ok();
    let sid = body["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|session| session["current"] == true)
        .unwrap()["sid"]
        .clone();
    let path = format!("/auth/sessions/{}", sid.as_str().unwrap());
    here.delete(&path).await.expect_success(Message::SessionEnded);
    there.get("/auth/check").await.expect_unauthorized();
    here.delete(&path).await.expect_error(ErrorCode::SessionNotFound);
}

#[tokio::test]
async fn delete_of_another_accounts_session_returns_404() {
    let world = World::new().await;
    let (admin, member) = (world.admin().await, world.member().await);
    let body = member.get("/auth/sessions").await.expect_ok();
    let sid = body["sessions"][0]["sid"].as_str().unwrap().to_owned();
    admin.delete(&format!("/auth/sessions/{sid}")).await.expect_error(ErrorCode::SessionNotFound);
    member.get("/auth/check").await.expect_ok();
}

#[tokio::test]
async fn delete_malformed_id_returns_404() {
    let (world, member) = World::with_member().await;
    for id in [
        "x",
        "0198c0de-0000-7000-8000-000000000001",
        "%00",
        "%ff",
        "..%2f",
        "0198c0de000070008000000000000001",
    ] {
        let answer = member.delete(&format!("/auth/sessions/{id}")).await;
        answer.expect_error(ErrorCode::SessionNotFound);
        world.anonymous().delete(&format!("/auth/sessions/{id}")).await.expect_unauthorized();
    }
}

#[tokio::test]
async fn list_omits_expired_sessions() {
    let world = World::with(&[("SESSION_DAYS", "1")]).await;
    let user = world.member().await.user().clone();
    world.clock().advance(Duration::from_secs(86_400));
    let again = world.signed_in(user).await;
    assert_eq!(again.session_count().await, 1);
}

#[tokio::test]
async fn list_shows_a_session_that_is_older_than_a_hundred_ended_ones() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    for _ in 0..101 {
        world.signed_in(member.user().clone()).await;
    }
    member.change_password(PASSWORD, "le phare de Kelibia").await.expect_ok();
    let sessions = member.get("/auth/sessions").await.expect_ok()["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 1);
}
