use common::Message;
use serde_json::json;
use tests::{Authenticator, World, authenticator::begin};

#[tokio::test]
async fn domain_and_origins_come_from_the_settings() {
    let world = World::with(&[
        ("PASSKEY_RP_ID", "example.org"),
        ("PASSKEY_ORIGINS", "https://front.example.org/app, https://other.example.org:8443"),
    ])
    .await;
    let member = world.member().await;
    assert_eq!(begin(&member).await.0["rpId"], "example.org");
    for origin in ["https://front.example.org", "https://other.example.org:8443"] {
        let mut authenticator = Authenticator::es256();
        authenticator.rp_id = "example.org".to_owned();
        authenticator.client_data = json!({ "origin": origin });
        authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
        authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
    }
}

#[tokio::test]
async fn addresses_of_this_machine_stand_for_localhost() {
    for url in ["http://[::1]:8123", "http://127.0.0.1:8123/front", "http://localhost:8123"] {
        let world = World::with(&[("PUBLIC_URL", url)]).await;
        let member = world.member().await;
        let mut authenticator = Authenticator::es256();
        authenticator.rp_id = "localhost".to_owned();
        authenticator.client_data = json!({ "origin": "http://localhost:8123" });
        authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
    }
}

#[tokio::test]
async fn origins_outside_the_domain_stop_the_start() {
    let world = World::new().await;
    for (id, origins) in [
        ("example.com", "https://front.example.org"),
        ("front.example.org", "https://example.org"),
        ("front.example.org", "http://front.example.org"),
        ("front.example.org", "https://notfront.example.org"),
        ("front.example.org", "front.example.org"),
        ("front.example.org", "android:apk-key-hash:short"),
    ] {
        let mut settings = world.settings();
        settings.set("PASSKEY_RP_ID", id);
        settings.set("PASSKEY_ORIGINS", origins);
        let setup = settings.setup(world.clock().clone()).unwrap();
        let error = dev::edge(&setup).err().expect("the setting is invalid");
        assert!(error.to_string().contains("PASSKEY_ORIGINS"), "{error}");
    }
}

#[tokio::test]
async fn domain_that_is_an_address_stops_the_start() {
    let world = World::new().await;
    for (id, origins) in [
        ("127.0.0.1", "https://127.0.0.1"),
        ("0x7f.1", "https://127.0.0.1"),
        ("[::1]", "https://[::1]"),
    ] {
        let mut settings = world.settings();
        settings.set("PASSKEY_RP_ID", id);
        settings.set("PASSKEY_ORIGINS", origins);
        let setup = settings.setup(world.clock().clone()).unwrap();
        let error = dev::edge(&setup).err().expect("the setting is invalid");
        assert!(error.to_string().contains("PASSKEY_RP_ID"), "{error}");
    }
}
