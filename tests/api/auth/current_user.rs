use tests::World;

#[tokio::test]
async fn account_has_eighteen_fields_and_no_secret() {
    let world = World::new().await;
    let body = world.member().await.get("/auth/current-user").await.expect_ok();
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
