use std::time::Duration;

use tests::World;

#[tokio::test]
async fn token_is_renewed_after_half_its_lifetime_in_the_same_session() {
    let (world, member) = World::with_member().await;
    let first = member.get("/auth/check").await;
    assert_eq!(first.header("authorization"), member.token());
    assert_eq!(first.expect_ok()["user"]["token"], member.token());

    world.clock().advance(Duration::from_secs(6 * 3600 - 60));
    assert_eq!(member.get("/auth/check").await.header("authorization"), member.token());
    world.clock().advance(Duration::from_secs(60));
    let fresh = member.get("/auth/check").await;
    assert_ne!(fresh.header("authorization"), member.token());
    let renewed = member.with_token(fresh.header("authorization"));
    world.clock().advance(Duration::from_secs(6 * 3600));
    member.get("/auth/check").await.expect_unauthorized();
    renewed.get("/auth/check").await.expect_ok();
    assert_eq!(renewed.session_count().await, 1);
}

#[tokio::test]
async fn session_renewed_repeatedly_ends_after_session_days() {
    let world = World::with(&[("SESSION_DAYS", "1"), ("ACCESS_TOKEN_SECONDS", "60000")]).await;
    let mut member = world.member().await;
    world.clock().advance(Duration::from_secs(50_000));
    member = member.with_token(member.get("/auth/check").await.header("authorization"));
    world.clock().advance(Duration::from_secs(36_000));
    member = member.with_token(member.get("/auth/check").await.header("authorization"));
    world.clock().advance(Duration::from_secs(400));
    member.get("/auth/check").await.expect_unauthorized();
}

#[tokio::test]
async fn unchanged_response_if_none_match_returns_304() {
    let (_, member) = World::with_member().await;
    let first = member.get("/auth/check").await;
    let second = member.with("if-none-match", first.header("etag")).get("/auth/check").await;
    assert_eq!(second.status, 304);
    assert_eq!(second.header("authorization"), member.token());
}

#[tokio::test]
async fn last_active_moves_at_most_every_five_minutes() {
    let (world, member) = World::with_member().await;
    let last_active = async || {
        member.get("/auth/check").await.expect_ok()["user"]["lastActive"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = last_active().await;
    world.clock().advance(Duration::from_secs(240));
    assert_eq!(last_active().await, before);
    world.clock().advance(Duration::from_secs(60));
    last_active().await;
    let moved = last_active().await;
    assert!(moved > before, "{moved} {before}");
}

#[tokio::test]
async fn missing_or_invalid_token_returns_401_with_challenge() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    let answer = anonymous.get("/auth/check").await;
    answer.expect_unauthorized();
    assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"halqa\"");
    for token in ["Bearer x", "Bearer a.b.c", "bearer ", "Bearer eyJhbGciOiJub25lIn0.e30."] {
        let answer = anonymous.with_token(token).get("/auth/check").await;
        answer.expect_unauthorized();
        let expected = if token == "bearer " {
            "Bearer realm=\"halqa\""
        } else {
            "Bearer realm=\"halqa\", error=\"invalid_token\""
        };
        assert_eq!(answer.header("www-authenticate"), expected, "{token}");
    }
}

#[tokio::test]
async fn bearer_scheme_any_case_accepted_other_token_places_rejected() {
    let (world, member) = World::with_member().await;
    let token = member.token().strip_prefix("Bearer ").unwrap().to_owned();
    let anonymous = world.anonymous();
    anonymous.with_token(&format!("bEaReR {token}")).get("/auth/check").await.expect_ok();
    let twice = anonymous.with_token(&format!("Bearer bearer {token}"));
    twice.get("/auth/check").await.expect_ok();
    let thrice = anonymous.with_token(&format!("Bearer Bearer Bearer {token}"));
    thrice.get("/auth/check").await.expect_unauthorized();
    anonymous.with_token(&format!("Basic {token}")).get("/auth/check").await.expect_unauthorized();
    anonymous.with_token(&token).get("/auth/check").await.expect_unauthorized();
    let answer = anonymous.with("cookie", &format!("token={token}")).get("/auth/check").await;
    answer.expect_unauthorized();
    anonymous.get(&format!("/auth/check?access_token={token}")).await.expect_unauthorized();
    member.with("authorization", member.token()).get("/auth/check").await.expect_unauthorized();
}

#[tokio::test]
async fn modified_token_is_rejected() {
    let (_, member) = World::with_member().await;
    let token = member.token();
    for at in [10, 40, token.len() / 2, token.len() - 3] {
        let mut changed = token.to_owned();
        let character = if &token[at..=at] == "A" { "B" } else { "A" };
        changed.replace_range(at..=at, character);
        member.with_token(&changed).get("/auth/check").await.expect_unauthorized();
    }
    let answer = member.with_token(&token[..token.len() - 1]).get("/auth/check").await;
    answer.expect_unauthorized();
}

#[tokio::test]
async fn token_issued_in_the_future_is_rejected() {
    let (world, member) = World::with_member().await;
    world.clock().step_back(Duration::from_secs(60));
    member.get("/auth/check").await.expect_unauthorized();
}
