//! The local HTTP server on a real port.

use bytes::Bytes;
use cloud::faults::{Fault, Mode};
use common::Message;
use dev::front;
use http::{HeaderMap, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use tests::World;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::committees::payload as committee;

pub(super) async fn start_server(world: &World) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(front::serve(listener, world.edge().clone(), None));
    address
}

pub(super) async fn send(request: Request<Full<Bytes>>) -> Response<Bytes> {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let (parts, body) = client.request(request).await.unwrap().into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

/// The bytes of the response, as text.
pub(super) async fn raw(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn keep_alive_timeout_of_five_seconds_is_announced() {
    let world = World::new().await;
    let address = start_server(&world).await;
    let answer = send(
        Request::get(format!("http://{address}/api/v1/committees")).body(Full::default()).unwrap(),
    )
    .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(
        (text(answer.headers(), "connection"), text(answer.headers(), "keep-alive")),
        ("keep-alive", "timeout=5")
    );
    assert!(text(answer.headers(), "date").ends_with(" GMT"));
    assert_eq!(text(answer.headers(), "content-length"), answer.body().len().to_string());
}

#[tokio::test]
async fn connection_close_is_honoured() {
    let world = World::new().await;
    let address = start_server(&world).await;
    let answer =
        raw(address, "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .await
            .to_lowercase();
    assert!(answer.starts_with("http/1.1 200") && !answer.contains("keep-alive"), "{answer}");
}

#[tokio::test]
async fn preflight_has_content_length_0_and_304_has_none() {
    let world = World::new().await;
    let address = start_server(&world).await;
    let preflight =
        raw(address, "OPTIONS /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .await
            .to_lowercase();
    assert!(
        preflight.starts_with("http/1.1 204") && preflight.contains("\r\ncontent-length: 0\r\n"),
        "{preflight}"
    );
    let known = raw(
        address,
        "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\nConnection: close\r\n\r\n",
    )
    .await
    .to_lowercase();
    assert!(known.starts_with("http/1.1 304") && !known.contains("content-length"), "{known}");
}

#[tokio::test]
async fn head_has_the_content_length_of_get() {
    let world = World::new().await;
    let address = start_server(&world).await;
    let head = raw(
        address,
        "HEAD /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    .await
    .to_lowercase();
    let get =
        raw(address, "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .await
            .to_lowercase();
    let length = |answer: &str| {
        answer.lines().find(|line| line.starts_with("content-length")).map(str::to_owned)
    };
    assert_eq!(length(&head), length(&get));
    assert!(head.ends_with("\r\n\r\n") && !get.ends_with("\r\n\r\n"));
}

#[tokio::test]
async fn chunked_body_is_read_and_oversized_body_returns_413() {
    let world = World::new().await;
    let address = start_server(&world).await;
    let chunked = "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
    assert!(raw(address, chunked).await.contains("VALIDATION_ERROR_MESSAGE"));
    let long = Full::from("x".repeat(12_000_000));
    let answer =
        send(Request::post(format!("http://{address}/api/v1/auth/login")).body(long).unwrap())
            .await;
    assert_eq!(answer.status(), 413);
    assert_eq!(
        text(answer.headers(), header::CONTENT_TYPE.as_str()),
        "application/json; charset=utf-8"
    );
}

#[tokio::test]
async fn truncated_request_is_rejected() {
    let world = World::new().await;
    let address = start_server(&world).await;
    let body = format!(r#"{{"email":"admin@example.org","password":"{}"}}"#, tests::PASSWORD);
    let before = world.items("transient").len();
    for request in [
        format!(
            "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{body}"
        ),
        format!(
            "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\nZZZ\r\n",
            body.len()
        ),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!String::from_utf8_lossy(&answer).contains(" 200 "), "{answer:?}");
    }
    assert_eq!(world.items("transient").len(), before, "no session was created");
}

#[tokio::test]
async fn local_pages_are_limited_to_this_host_and_origin() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(front::serve(listener, world.edge().clone(), Some(world.pages())));
    for (headers, status) in [
        (format!("Host: {address}"), 200),
        (format!("Host: {address}\r\nOrigin: http://{address}"), 200),
        (format!("Host: localhost:{}\r\nSec-Fetch-Site: none", address.port()), 200),
        ("Host: evil.example".to_owned(), 403),
        ("Host: 127.0.0.1:80@evil.example".to_owned(), 403),
        (format!("Host: {address}\r\nOrigin: http://evil.example"), 403),
        (format!("Host: {address}\r\nOrigin: http://localhost:3000"), 403),
        (format!("Host: {address}\r\nSec-Fetch-Site: cross-site"), 403),
    ] {
        let answer = raw(
            address,
            &format!("GET /_local/state HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n"),
        )
        .await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{headers}: {answer}");
    }
    let outside =
        raw(address, "GET /_localx HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert!(outside.contains("NOT_FOUND_MESSAGE"), "{outside}");
}

#[tokio::test]
async fn api_page_is_served_without_external_resources() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(front::serve(listener, world.edge().clone(), Some(world.pages())));
    for (path, kind) in [
        ("", "text/html; charset=utf-8"),
        ("/", "text/html; charset=utf-8"),
        ("/openapi.json", "application/json"),
        ("/scalar.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = send(
            Request::get(format!("http://{address}/_local/api{path}"))
                .body(Full::default())
                .unwrap(),
        )
        .await;
        assert_eq!(
            (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap()),
            (200, kind),
            "{path}"
        );
        let policy = answer.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("http"), "{policy}");
    }
    let foreign = Request::get(format!("http://{address}/_local/api/openapi.json"))
        .header("origin", "http://localhost:3000");
    assert_eq!(send(foreign.body(Full::default()).unwrap()).await.status(), 403);
}

#[tokio::test]
async fn faults_are_set_read_and_cleared_over_http() {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(front::serve(listener, world.edge().clone(), Some(world.pages())));
    let faults = async |body: &str| {
        let request = Request::put(format!("http://{address}/_local/faults"))
            .body(Full::from(body.to_owned()))
            .unwrap();
        let answer = send(request).await;
        (answer.status().as_u16(), String::from_utf8_lossy(answer.body()).into_owned())
    };
    let set = r#"{"dynamodb":{"mode":"refuse","operation":"Query","times":2}}"#;
    assert_eq!(faults(set).await, (200, set.to_owned()));
    let committees = async || {
        send(
            Request::get(format!("http://{address}/api/v1/committees"))
                .body(Full::default())
                .unwrap(),
        )
        .await
        .status()
        .as_u16()
    };
    assert_eq!((committees().await, committees().await), (503, 200), "a read is tried twice");
    let set = r#"{"cpanel":{"error":"status0","mode":"error","operation":"list_databases"}}"#;
    assert_eq!(faults(set).await, (200, set.to_owned()));
    for mode in ["stale", "torn", "hot", "stream", "reset"] {
        let set = format!(r#"{{"dynamodb":{{"delayMs":60000,"mode":"{mode}"}}}}"#);
        assert_eq!(faults(&set).await, (200, set));
        assert_eq!(committees().await, 200, "{mode}");
    }
    assert_eq!(faults("{}").await, (200, "{}".to_owned()));
    assert_eq!(faults(r#"{"dynamodb":{"mode":"nonsense"}}"#).await.0, 400);
}

#[tokio::test]
async fn stale_reads_show_changes_after_the_delay_or_the_fault() {
    let world = World::new().await;
    let address = start_server(&world).await;
    // The requests of a `Person` wait until all changes are visible.
    let names = async || {
        let request = Request::get(format!("http://{address}/api/v1/committees"));
        let answer = send(request.body(Full::default()).unwrap()).await;
        String::from_utf8_lossy(answer.body()).into_owned()
    };
    let stale = |milliseconds| Fault { delay_ms: Some(milliseconds), ..Fault::new(Mode::Stale) };
    let admin = world.admin().await;
    let create = async |name: &str| {
        let created = admin.post("/committees", committee(name)).await;
        created.expect_success(Message::CommitteeCreated);
    };
    world.inject_fault(stale(60_000));
    create("Tard").await;
    assert!(!names().await.contains("Tard"));
    world.inject_fault(stale(60_000).times(1));
    assert!(!names().await.contains("Tard"));
    assert!(names().await.contains("Tard"), "the fault is used up");

    world.inject_fault(stale(0));
    create("Vite").await;
    assert!(names().await.contains("Vite"));
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let world = World::new().await;
    let address = start_server(&world).await;
    let both = "GET /api/v1/nowhere HTTP/1.1\r\nHost: localhost\r\n\r\nGET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = raw(address, both).await;
    let (first, second) =
        (answer.find("HTTP/1.1 404").unwrap(), answer.find("HTTP/1.1 200").unwrap());
    assert!(first < second);
}
