//! The console of `cargo dev` below `/_local`, and the stand-in for the front end.

use std::net::SocketAddr;

use bytes::Bytes;
use common::Message;
use http::{Request, Response};
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
    let (html, css, js) = ("text/html", "text/css", "text/javascript");
    for (path, kind) in [
        ("/_local", html),
        ("/_local/texts", html),
        ("/_local/people", html),
        ("/_local/requests", html),
        ("/_local/tables", html),
        ("/_local/front", html),
        ("/_local/front/reset-password", html),
        ("/_local/api", html),
        ("/_local/console.css", css),
        ("/_local/console.js", js),
        ("/_local/front.css", css),
        ("/_local/front.js", js),
        ("/_local/api/scalar.js", js),
    ] {
        let answer = call(address, path).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(header("content-type"), format!("{kind}; charset=utf-8"), "{path}");
        if kind == html {
            let policy = header("content-security-policy");
            let is_strict = policy.starts_with("default-src 'none'") && !policy.contains("http");
            assert!(is_strict, "{path}: {policy}");
            // Scalar needs inline styles and scripts.
            assert_eq!(policy.contains("unsafe"), path == "/_local/api", "{path}: {policy}");
        }
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
    world.anonymous().post("/auth/login", sign_in).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn requests_are_found_by_code_caller_and_id_and_mails_by_recipient() {
    let (world, member) = World::with_member().await;
    let address = start(&world, Some(world.pages())).await;
    let request = Request::get(format!("http://{address}/api/v1/courses/x"))
        .header("authorization", format!("Bearer {}", member.token()));
    let answer = send(request.body(Full::default()).unwrap()).await;
    call(address, "/api/v1/nowhere").await;
    let id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
    let caller = member.user().user_id.to_string();
    for q in ["COURSE_NOT_FOUND", &*caller, &*id, "courses/x"] {
        let page = read(address, &format!("/_local/requests?q={q}")).await;
        assert!(page.contains("/api/v1/courses/x") && !page.contains("nowhere"), "{q}: {page}");
    }
    for email in ["amel@example.org", "sami@example.org"] {
        world.register(email).await;
    }
    world.deliver().await;
    let page = read(address, "/_local?to=amel").await;
    assert!(page.contains("amel@example.org") && !page.contains("sami@example.org"), "{page}");
}
