use common::Message;
use futures_util::future::join_all;
use serde_json::json;
use tests::World;

#[tokio::test]
async fn logout_ends_this_session_and_keeps_others() {
    let world = World::new().await;
    let (here, there) = (world.admin().await, world.admin().await);
    here.post("/auth/logout", json!({})).await.expect_success(Message::LogoutSuccess);
    let refused = here.get("/auth/check").await;
    refused.expect_unauthorized();
    assert_eq!(
        refused.header("www-authenticate"),
        "Bearer realm=\"halqa\", error=\"invalid_token\""
    );
    here.post("/auth/logout", json!({})).await.expect_unauthorized();
    there.get("/auth/check").await.expect_ok();
}

#[tokio::test]
async fn logout_takes_effect_in_every_process_at_once() {
    let (world, member) = World::with_member().await;
    let elsewhere = member.via(&world.another_process());
    elsewhere.get("/auth/check").await.expect_ok();
    member.post("/auth/logout", json!({})).await.expect_success(Message::LogoutSuccess);
    elsewhere.get("/auth/check").await.expect_unauthorized();
}

#[tokio::test]
async fn concurrent_logouts_end_the_session_and_none_fails() {
    let (world, member) = World::with_member().await;
    let logouts = (0..10).map(|_| member.post("/auth/logout", json!({})));
    let answers = world.race(2, join_all(logouts)).await;
    assert!(answers.iter().any(|answer| answer.status == 200));
    assert!(answers.iter().all(|answer| [200, 401].contains(&answer.status)), "{answers:?}");
}

#[tokio::test]
async fn logout_beside_a_renewal_of_the_session_ends_it() {
    for turns in 0..40 {
        let world = World::new().await;
        let member = world.member().await;
        let renewal = world.renewal(&member).await;
        let renew = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            renewal.commit().await.unwrap()
        };
        let (answer, _) = tokio::join!(member.post("/auth/logout", json!({})), renew);
        answer.expect_success(Message::LogoutSuccess);
        let after = member.get("/auth/check").await;
        after.expect_unauthorized();
    }
}

#[tokio::test]
async fn ended_session_request_counts_against_the_address() {
    let (_, member) = World::with_member().await;
    member.post("/auth/logout", json!({})).await.expect_success(Message::LogoutSuccess);
    assert_eq!(
        member.get("/auth/check").await.header("x-ratelimit-remaining"),
        "98",
        "this process reads that the session has ended"
    );
    assert_eq!(
        member.get("/auth/check").await.header("x-ratelimit-remaining"),
        "99",
        "counts against the address"
    );
}
