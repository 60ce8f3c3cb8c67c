//! The console of `cargo dev` below `/_local`, and the stand-in for the front end.

use std::net::SocketAddr;

use bytes::Bytes;
use common::Message;
use http::{Request, Response, header};
use http_body_util::Full;
use serde_json::{Value, json};
use tests::World;

use super::http::{send, start};

async fn call(address: SocketAddr, path: &str) -> Response<Bytes> {
    let request = Request::get(format!("http://{address}{path}"));
    send(request.body(Full::default()).unwrap()).await
}

async fn read(address: SocketAddr, path: &str) -> String {
    let answer = call(address, path).await;
    assert_eq!(answer.status(), 200, "{path}");
    String::from_utf8(answer.body().to_vec()).unwrap()
}

/// Sends a text message through the API.
async fn send_text(world: &World, to: &str, message: &str) {
    let payload = json!({ "to": to, "message": message });
    world.admin().await.post("/sms/single", payload).await.expect_ok();
    world.deliver().await;
}

#[tokio::test]
async fn pages_answer_with_a_policy_without_inline_scripts() {
    let world = World::new().await;
    let address = start(&world, Some(world.pages())).await;
    for path in [
        "/_local",
        "/_local/texts",
        "/_local/people",
        "/_local/requests",
        "/_local/tables",
        "/_local/front",
        "/_local/front/reset-password",
    ] {
        let answer = call(address, path).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(header("content-type"), "text/html; charset=utf-8", "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        let page = String::from_utf8_lossy(answer.body());
        let has_inline =
            ["<style", "style=", "<script>", "onclick"].iter().any(|part| page.contains(part));
        assert!(!has_inline, "{path}");
        let lang = if path.starts_with("/_local/front") { "fr" } else { "en" };
        assert!(page.contains(&format!("<html lang=\"{lang}\">")), "{path}");
    }
    for (path, kind) in [
        ("/_local/console.css", "text/css; charset=utf-8"),
        ("/_local/console.js", "text/javascript; charset=utf-8"),
        ("/_local/front.css", "text/css; charset=utf-8"),
        ("/_local/front.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = call(address, path).await;
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()[header::CONTENT_TYPE], kind, "{path}");
    }
}

#[tokio::test]
async fn text_messages_show_their_codes_and_no_markup() {
    let world = World::new().await;
    let hostile = format!("<script>alert(1)</script> 123456 {}", "ç".repeat(70));
    send_text(&world, "+21620123456", &hostile).await;
    let address = start(&world, Some(world.pages())).await;
    let page = read(address, "/_local/texts").await;
    assert!(!page.contains("<script>"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("2 parts · UCS-2") && page.contains("data-copy=\"123456\""));
}

#[tokio::test]
async fn passwords_on_the_page_of_people_sign_in() {
    let world = World::new().await;
    let address = start(&world, Some(world.pages())).await;
    let people = async || {
        let page = read(address, "/_local/people").await;
        let bodies = page.split("data-sign-in=\"").skip(1);
        let bodies = bodies.map(|rest| rest.split('"').next().unwrap().replace("&quot;", "\""));
        bodies.collect::<Vec<_>>()
    };
    assert_eq!(people().await.len(), 1);
    world.seed().await;
    let bodies = people().await;
    assert!(bodies.len() > 5, "{bodies:?}");
    // The first super admin of a World has another password.
    let sign_in: Value = serde_json::from_str(&bodies[1]).unwrap();
    let answer = world.anonymous().post("/auth/login", sign_in).await;
    answer.expect_success(Message::LoginSuccess);
}
