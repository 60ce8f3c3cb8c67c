//! `/_local/api`: the API reference.

use std::net::SocketAddr;

use bytes::Bytes;
use dev::{front, pages::Pages};
use http::{Request, Response, header};
use http_body_util::Full;
use serde_json::{Value, json};
use tests::World;
use tokio::net::TcpListener;

use super::http::send;

/// Serves the page, which signs in to `accounts`.
async fn start(world: &World, accounts: Vec<Value>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let pages = Pages::new(world.cloud().clone(), world.setup(), Value::Null, accounts);
    tokio::spawn(front::serve(listener, world.edge().clone(), Some(pages)));
    address
}

async fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Response<Bytes> {
    let mut request = Request::get(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(request.body(Full::default()).unwrap()).await
}

#[tokio::test]
async fn page_has_the_document_and_the_accounts_to_sign_in_to() {
    let world = World::new().await;
    let account = json!({ "name": "Super admin", "email": "admin@example.org", "password": "x" });
    let address = start(&world, vec![account.clone()]).await;
    let answer = get(address, "/_local/api/openapi.json", &[]).await;
    let document: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(document["x-accounts"], json!([account]));
    let media = &document["paths"]["/media/{key}"]["get"];
    assert_eq!(media["servers"][0]["url"], "/", "Scalar ignores the servers of a path");
}

#[tokio::test]
async fn script_is_compressed_and_read_once() {
    let world = World::new().await;
    let address = start(&world, Vec::new()).await;
    let path = "/_local/api/scalar.js";
    let plain = get(address, path, &[]).await;
    assert!(plain.headers().get(header::CONTENT_ENCODING).is_none());
    let compressed = get(address, path, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(compressed.headers()[header::CONTENT_ENCODING], "gzip");
    assert!(compressed.body().len() * 2 < plain.body().len());
    let tag = plain.headers()[header::ETAG].to_str().unwrap();
    let again = get(address, path, &[("if-none-match", tag)]).await;
    assert_eq!((again.status().as_u16(), again.body().len()), (304, 0));
}
