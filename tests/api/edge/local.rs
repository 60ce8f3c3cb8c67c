//! What protects the listeners of `cargo dev` from other programs and web pages on the same machine.

use std::net::SocketAddr;

use common::Message;
use dev::home::LocalSettings;
use runtime::Clock;
use serde_json::json;
use tests::World;

use super::http::{raw, start};

/// The address in the setting `name`.
fn address(world: &World, name: &str) -> SocketAddr {
    let url = world.setting(name);
    url.trim_start_matches("http://").parse().unwrap()
}

/// The error of the tables with other `credentials`.
async fn refusal(world: &World, credentials: &[(&str, String)]) -> String {
    let mut settings: LocalSettings = world.settings();
    for (name, value) in credentials {
        settings.set(name, value.as_str());
    }
    let store = settings.setup(Clock::default()).unwrap().store;
    store.committees(None, 1).await.unwrap_err().to_string()
}

#[tokio::test]
async fn wrong_secret_and_the_key_for_files_open_no_table() {
    let world = World::new().await;
    let forged = [("AWS_SECRET_ACCESS_KEY", "local-secret".to_owned())];
    let refused = refusal(&world, &forged).await;
    assert!(refused.contains("InvalidSignatureException"), "{refused}");

    let file = json!({ "name": "a.txt", "contentType": "text/plain", "size": 5 });
    let created = world.member().await.post("/files", file).await;
    let fields = &created.expect_success(Message::FileCreated)["upload"]["fields"];
    let credential = fields["x-amz-credential"].as_str().unwrap();
    let [(_, id), (_, secret)] = world.cloud().files_key_of("files");
    assert!(credential.starts_with(&id), "{credential}");
    let public = [("AWS_ACCESS_KEY_ID", id), ("AWS_SECRET_ACCESS_KEY", secret)];
    let refused = refusal(&world, &public).await;
    assert!(refused.contains("UnrecognizedClientException"), "{refused}");
}

#[tokio::test]
async fn cloud_answers_under_names_of_this_machine_only() {
    let world = World::new().await;
    // The API itself answers under every name, as behind a gateway.
    let api = start(&world, None).await;
    let answer = request(api, "/api/v1/health", "evil.example").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for (listener, path, served) in [
        (address(&world, "AWS_ENDPOINT_URL"), "/halqa-files", 403),
        (address(&world, "CPANEL_URL"), "/execute/a/b", 401),
    ] {
        for host in ["localhost:9000", "127.0.0.1", "[::1]:9000"] {
            let answer = request(listener, path, host).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {served} ")) && !answer.contains(REFUSED),
                "{host}{path}: {answer}"
            );
        }
        for host in ["evil.example", "evil.example:9000", "127.0.0.1.evil.example"] {
            let answer = request(listener, path, host).await;
            assert!(
                answer.starts_with("HTTP/1.1 403 ") && answer.contains(REFUSED),
                "{host}{path}: {answer}"
            );
        }
    }
}

/// The response to other names.
const REFUSED: &str = "Available only under 127.0.0.1, localhost and [::1].";

async fn request(listener: SocketAddr, path: &str, host: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    raw(listener, &request).await
}
