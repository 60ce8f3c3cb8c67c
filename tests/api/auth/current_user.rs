use common::ErrorCode;
use tests::World;

#[tokio::test]
async fn the_account_has_eighteen_fields_and_no_secret() {
    let world = World::new().await;
    let body = world.member().await.get("/auth/current-user").await.shows();
    let user = body["user"].as_object().unwrap();
    assert_eq!(user.len(), 18);
    for secret in [
        "token",
        "otpHex",
        "otpAscii",
        "otpAuthUrl",
        "otpBase32",
        "passwordlessBase32",
        "LoginActivity",
    ] {
        assert!(!user.contains_key(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_stranger_is_refused() {
    let world = World::new().await;
    world
        .stranger()
        .get("/auth/current-user")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}
