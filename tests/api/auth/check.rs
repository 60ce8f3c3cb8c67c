use std::time::Duration;

use common::ErrorCode;
use domain::Profile;
use tests::{Someone, World};

#[tokio::test]
async fn the_same_token_comes_back_until_half_its_life_is_gone_then_a_fresh_one_of_the_same_session()
 {
    let world = World::new().await;
    let member = world.member().await;
    let first = member.get("/auth/check").await;
    assert_eq!(first.header("authorization"), member.token());
    assert_eq!(first.shows()["user"]["token"], member.token());

    world.clock().advance(Duration::from_secs(6 * 3600 - 2));
    assert_eq!(
        member.get("/auth/check").await.header("authorization"),
        member.token()
    );
    world.clock().advance(Duration::from_secs(2));
    let fresh = member.get("/auth/check").await;
    assert_ne!(fresh.header("authorization"), member.token());
    let renewed = member.holding(fresh.header("authorization"));
    world.clock().advance(Duration::from_secs(6 * 3600));
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    renewed.get("/auth/check").await.shows();
    let sessions = renewed.get("/auth/sessions").await.shows()["sessions"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(sessions, 1);
}

#[tokio::test]
async fn a_session_ends_after_its_days_however_often_it_was_renewed() {
    let world = World::with(&[("SESSION_DAYS", "1"), ("ACCESS_TOKEN_SECONDS", "60000")]).await;
    let mut member = world.member().await;
    world.clock().advance(Duration::from_secs(50_000));
    member = member.holding(member.get("/auth/check").await.header("authorization"));
    world.clock().advance(Duration::from_secs(36_000));
    member = member.holding(member.get("/auth/check").await.header("authorization"));
    world.clock().advance(Duration::from_secs(400));
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn nothing_changes_between_two_looks_so_the_second_is_a_304() {
    let world = World::new().await;
    let member = world.member().await;
    let first = member.get("/auth/check").await;
    let second = member
        .with("if-none-match", first.header("etag"))
        .get("/auth/check")
        .await;
    assert_eq!(second.status, 304);
    assert_eq!(second.header("authorization"), member.token());
}

#[tokio::test]
async fn last_active_moves_every_five_minutes_at_most() {
    let world = World::new().await;
    let member = world.member().await;
    let last_active = async || {
        member.get("/auth/check").await.shows()["user"]["lastActive"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let begun = last_active().await;
    world.clock().advance(Duration::from_secs(299));
    assert_eq!(last_active().await, begun);
    world.clock().advance(Duration::from_secs(1));
    last_active().await;
    let moved = last_active().await;
    assert!(moved > begun, "{moved} {begun}");
}

#[tokio::test]
async fn without_a_good_token_the_caller_is_nobody() {
    let world = World::new().await;
    let nobody = world.stranger();
    let answer = nobody.get("/auth/check").await;
    answer.refuses(ErrorCode::BadAuthCombination);
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"halqa\"");
    for token in [
        "Bearer x",
        "Bearer a.b.c",
        "bearer ",
        "Bearer eyJhbGciOiJub25lIn0.e30.",
    ] {
        let answer = nobody.holding(token).get("/auth/check").await;
        answer.refuses(ErrorCode::BadAuthCombination);
        let expected = if token == "bearer " {
            "Bearer realm=\"halqa\""
        } else {
            "Bearer realm=\"halqa\", error=\"invalid_token\""
        };
        assert_eq!(answer.header("www-authenticate"), expected, "{token}");
    }
}

#[tokio::test]
async fn the_scheme_is_read_in_any_case_and_nothing_else_is_a_token() {
    let world = World::new().await;
    let member = world.member().await;
    let token = member.token().strip_prefix("Bearer ").unwrap().to_owned();
    let nobody = world.stranger();
    nobody
        .holding(&format!("bEaReR {token}"))
        .get("/auth/check")
        .await
        .shows();
    nobody
        .holding(&format!("Basic {token}"))
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    nobody
        .holding(&token)
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    nobody
        .with("cookie", &format!("token={token}"))
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    nobody
        .get(&format!("/auth/check?access_token={token}"))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    member
        .with("authorization", member.token())
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn a_changed_token_is_no_token() {
    let world = World::new().await;
    let member = world.member().await;
    let token = member.token();
    for at in [10, 40, token.len() / 2, token.len() - 3] {
        let mut changed = token.to_owned();
        let letter = if &token[at..=at] == "A" { "B" } else { "A" };
        changed.replace_range(at..=at, letter);
        member
            .holding(&changed)
            .get("/auth/check")
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
    member
        .holding(&token[..token.len() - 1])
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn a_token_of_a_clock_that_stepped_back_is_not_good_yet() {
    let world = World::new().await;
    let member = world.member().await;
    world.clock().step_back(Duration::from_secs(60));
    member
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn an_unverified_person_sees_himself() {
    let world = World::new().await;
    let person = world
        .person(Someone::with(Profile::Member).unverified())
        .await;
    assert_eq!(
        person.get("/auth/check").await.shows()["user"]["isVerified"],
        false
    );
}
