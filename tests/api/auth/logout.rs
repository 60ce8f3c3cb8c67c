use common::{ErrorCode, Message};
use futures_util::future::join_all;
use serde_json::json;
use tests::World;

#[tokio::test]
async fn the_session_ends_and_others_stay() {
    let world = World::new().await;
    let (here, there) = (world.admin().await, world.admin().await);
    here.post("/auth/logout", json!({}))
        .await
        .tells(Message::LogoutSuccess);
    let refused = here.get("/auth/check").await;
    refused.refuses(ErrorCode::BadAuthCombination);
    assert_eq!(
        refused.header("www-authenticate"),
        "Bearer realm=\"halqa\", error=\"invalid_token\""
    );
    here.post("/auth/logout", json!({}))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    there.get("/auth/check").await.shows();
}

#[tokio::test]
async fn every_process_feels_it_at_once() {
    let world = World::new().await;
    let member = world.member().await;
    let elsewhere = member.before(&world.another_process());
    elsewhere.get("/auth/check").await.shows();
    member
        .post("/auth/logout", json!({}))
        .await
        .tells(Message::LogoutSuccess);
    elsewhere
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn many_at_once_end_it_once_and_none_fails() {
    let world = World::new().await;
    let member = world.member().await;
    let answers = join_all((0..10).map(|_| member.post("/auth/logout", json!({})))).await;
    assert!(answers.iter().any(|answer| answer.status == 200));
    assert!(
        answers
            .iter()
            .all(|answer| [200, 401].contains(&answer.status)),
        "{answers:?}"
    );
}

#[tokio::test]
async fn a_dead_session_counts_against_the_address() {
    let world = World::new().await;
    let member = world.member().await;
    member
        .post("/auth/logout", json!({}))
        .await
        .tells(Message::LogoutSuccess);
    assert_eq!(
        member
            .get("/auth/check")
            .await
            .header("x-ratelimit-remaining"),
        "98",
        "the container learns that it is dead"
    );
    assert_eq!(
        member
            .get("/auth/check")
            .await
            .header("x-ratelimit-remaining"),
        "99",
        "the address's first request"
    );
}
