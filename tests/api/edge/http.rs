//! The local HTTP server on a real port.

use std::net::SocketAddr;

use bytes::Bytes;
use common::Message;
use dev::{front, pages::Pages};
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tests::World;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Serves `world` on a free port, with or without local pages.
pub(crate) async fn start(world: &World, pages: Option<Pages>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(front::serve(listener, world.edge().clone(), pages));
    address
}

pub(super) async fn send(request: Request<Full<Bytes>>) -> Response<Bytes> {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let (parts, body) = client.request(request).await.unwrap().into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

/// The bytes of the response, as text.
pub(super) async fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn chunked_body_is_read_and_oversized_body_returns_413() {
    let world = World::new().await;
    let address = start(&world, None).await;
    let chunked = "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
    assert!(raw(address, chunked).await.contains("VALIDATION_ERROR_MESSAGE"));
    let long = Full::from("x".repeat(12_000_000));
    let answer =
        send(Request::post(format!("http://{address}/api/v1/auth/login")).body(long).unwrap())
            .await;
    assert_eq!(answer.status(), 413);
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/json; charset=utf-8");
}

#[tokio::test]
async fn request_needs_one_valid_host() {
    let world = World::new().await;
    let address = start(&world, None).await;
    for (hosts, status) in [
        ("Host: localhost\r\n", 200),
        ("Host: [::1]:9000\r\n", 200),
        ("", 400),
        ("Host: a\r\nHost: a\r\n", 400),
        ("Host: a b\r\n", 400),
        ("Host: x@y\r\n", 400),
    ] {
        let request = format!("GET /api/v1/health HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
        let answer = raw(address, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{hosts:?}: {answer}");
        assert!(answer.contains("\"code\":"), "{hosts:?}: {answer}");
    }
}

#[tokio::test]
async fn client_that_ends_its_side_first_gets_its_answer() {
    let world = World::new().await;
    let mut stream = TcpStream::connect(start(&world, None).await).await.unwrap();
    let request = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn body_announced_as_too_large_is_refused_before_it_arrives() {
    let world = World::new().await;
    let mut stream = TcpStream::connect(start(&world, None).await).await.unwrap();
    let request =
        "POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n{";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
}

#[tokio::test]
async fn local_pages_are_limited_to_this_host_and_origin() {
    let world = World::new().await;
    let address = start(&world, Some(world.pages())).await;
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
            &format!("GET /_local/faults HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n"),
        )
        .await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{headers}: {answer}");
    }
    let outside =
        raw(address, "GET /_localx HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert!(outside.contains("NOT_FOUND_MESSAGE"), "{outside}");
}

/// Sends a request to `path` with the JSON `body`: the status and the body of the answer.
async fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let request = Request::builder().method(method).uri(format!("http://{address}{path}"));
    let answer = send(request.body(Full::from(body.to_owned())).unwrap()).await;
    (answer.status().as_u16(), String::from_utf8_lossy(answer.body()).into_owned())
}

#[tokio::test]
async fn document_of_the_api_page_names_accounts_and_servers() {
    let world = World::new().await;
    let account = json!({ "name": "Super admin", "email": "admin@example.org", "password": "x" });
    let pages = Pages::new(world.cloud().clone(), world.setup(), vec![account.clone()]);
    let address = start(&world, Some(pages)).await;
    let (status, document) = ask(address, "GET", "/_local/api/openapi.json", "").await;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!((status, &document["x-accounts"]), (200, &json!([account])));
    let media = &document["paths"]["/media/{key}"]["get"];
    assert_eq!(media["servers"][0]["url"], "/", "Scalar ignores the servers of a path");
}

#[tokio::test]
async fn faults_are_set_read_and_cleared_over_http() {
    let world = World::new().await;
    let address = start(&world, Some(world.pages())).await;
    let faults = async |body: &str| ask(address, "PUT", "/_local/faults", body).await;
    let committees = async || ask(address, "GET", "/api/v1/committees", "").await.0;
    let set = r#"{"dynamodb":{"mode":"refuse","operation":"Query","times":2}}"#;
    assert_eq!(faults(set).await, (200, set.to_owned()));
    assert_eq!((committees().await, committees().await), (503, 200), "a read is tried twice");
    for mode in ["stale", "torn", "hot", "stream", "reset"] {
        let set = format!(r#"{{"dynamodb":{{"delayMs":60000,"mode":"{mode}"}}}}"#);
        assert_eq!(faults(&set).await, (200, set));
        assert_eq!(committees().await, 200, "{mode}");
    }
    assert_eq!(faults("{}").await, (200, "{}".to_owned()));
    assert_eq!(faults(r#"{"dynamodb":{"mode":"nonsense"}}"#).await.0, 400);
}

#[tokio::test]
async fn fault_of_stale_reads_counts_the_answers_it_changed() {
    let (world, admin) = World::with_admin().await;
    let address = start(&world, Some(world.pages())).await;
    let set = r#"{"dynamodb":{"delayMs":600000,"mode":"stale","times":1}}"#;
    assert_eq!(ask(address, "PUT", "/_local/faults", set).await.0, 200);
    let listed = async || ask(address, "GET", "/api/v1/committees", "").await.1;
    let left = async || ask(address, "GET", "/_local/faults", "").await.1;
    let before = listed().await;
    assert_eq!(left().await, set, "nothing has changed since");
    let path = format!("/committees/{}", admin.user().committee_id);
    let change = admin.put(&path, json!({ "nameLatin": "Autre nom" })).await;
    change.expect_success(Message::CommitteeUpdated);
    assert_eq!((listed().await, left().await), (before, "{}".to_owned()));
    assert!(listed().await.contains("Autre nom"));
}
