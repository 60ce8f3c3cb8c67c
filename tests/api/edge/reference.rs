//! The API reference of `cargo dev seed`: its examples succeed when they are sent for the first time. This sends what
//! the page fills in; `tests/client/browser.ts` presses the same in Chromium.

use std::net::SocketAddr;

use bytes::Bytes;
use dev::front;
use http::{Request, Response, header};
use http_body_util::Full;
use serde_json::Value;
use tests::World;
use tokio::net::TcpListener;

use super::http::send;

/// Operations that the super admin cannot succeed with: they have no authenticator, and its codes change.
const REFUSED: [&str; 5] =
    ["createPasskey", "disableOtp", "renewRecoveryCodes", "signInWithPasskey", "verifyOtp"];
/// Sent after the others, because they change the caller's password or end their session.
const LAST: [&str; 2] = ["changePassword", "logout"];

async fn start(world: &World) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let pages = Some(world.pages_with_accounts());
    tokio::spawn(front::serve(listener, world.edge().clone(), pages));
    address
}

async fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Response<Bytes> {
    let mut request = Request::get(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(request.body(Full::default()).unwrap()).await
}

async fn deliver_forever(world: &World) {
    loop {
        world.deliver().await;
        tokio::task::yield_now().await;
    }
}

/// The document of the page, while messages are being delivered.
async fn document(world: &World, address: SocketAddr) -> Value {
    let answer = tokio::select! {
        answer = get(address, "/_local/api/openapi.json", &[]) => answer,
        () = deliver_forever(world) => unreachable!("it delivers until the document is there"),
    };
    assert_eq!(answer.status(), 200, "{:?}", answer.body());
    serde_json::from_slice(answer.body()).unwrap()
}

/// The operations of `document` with their methods and paths.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let mut operations: Vec<_> = paths
        .flat_map(|(path, item)| {
            let operations = item.as_object().unwrap().iter();
            operations.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
        })
        .filter(|(_, _, operation)| operation["operationId"].is_string())
        .collect();
    operations.sort_by_key(|(_, method, operation)| {
        let last = LAST.iter().position(|id| operation["operationId"] == *id);
        // What is deleted was read before.
        (last, *method == "delete")
    });
    operations
}

/// The URL with the examples of the required parameters.
fn url(address: SocketAddr, path: &str, operation: &Value) -> String {
    let prefix = if operation["servers"].is_array() { "" } else { "/api/v1" };
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let (name, value) = (parameter["name"].as_str().unwrap(), &parameter["example"]);
        let value = value.as_str().unwrap_or_default().replace('+', "%2B");
        match parameter["in"].as_str().unwrap() {
            "path" => path = path.replace(&format!("{{{name}}}"), &value),
            "query" if !value.is_empty() => query.push(format!("{name}={value}")),
            _ => {}
        }
    }
    format!("http://{address}{prefix}{path}?{}", query.join("&"))
}

/// The example of the JSON body: the only one, or the first of several.
fn body(operation: &Value) -> Bytes {
    let json = &operation["requestBody"]["content"]["application/json"];
    let several = json["examples"].as_object();
    let first = several.and_then(|examples| examples.values().next());
    let example = first.map_or(&json["example"], |example| &example["value"]);
    if example.is_null() { Bytes::new() } else { example.to_string().into() }
}

#[tokio::test]
async fn examples_of_the_api_reference_succeed_in_a_seeded_store() {
    let world = World::with(&[("RATE_LIMIT", "10000")]).await;
    world.seed().await;
    let address = start(&world).await;
    let document = document(&world, address).await;
    let account = &document["x-accounts"][0];
    let login = Request::post(format!("http://{address}/api/v1/auth/login"))
        .body(Full::from(account.to_string()))
        .unwrap();
    let user: Value = serde_json::from_slice(send(login).await.body()).unwrap();
    let token = user["user"]["token"].as_str().unwrap();
    let picture = get(address, "/media/default.png", &[]).await.into_body();

    let (mut count, mut refused) = (0, Vec::new());
    for (path, method, operation) in operations(&document) {
        let is_picture = path == "/users/avatar";
        let mut request = Request::builder()
            .method(method.to_uppercase().as_str())
            .uri(url(address, path, operation))
            .header(
                header::CONTENT_TYPE,
                if is_picture { "image/png" } else { "application/json" },
            );
        let security = operation["security"].as_array();
        if security
            .is_none_or(|schemes| schemes.first().is_some_and(|first| first["bearer"].is_array()))
        {
            request = request.header(header::AUTHORIZATION, token);
        }
        let body = if is_picture { picture.clone() } else { body(operation) };
        let answer = send(request.body(Full::from(body)).unwrap()).await;
        count += 1;
        let is_redirect = answer.status().is_redirection();
        if !answer.status().is_success() && !is_redirect {
            let text = String::from_utf8_lossy(answer.body()).into_owned();
            refused.push((operation["operationId"].as_str().unwrap(), answer.status(), text));
        }
    }
    refused.sort_by_key(|(id, _, _)| *id);
    let ids: Vec<&str> = refused.iter().map(|(id, _, _)| *id).collect();
    assert_eq!(ids, REFUSED, "{refused:#?}");
    assert!(refused.len() * 15 <= count, "at least 93 % of {count} succeed");
}

#[tokio::test]
async fn prepared_values_are_used_again_until_one_is_used_up() {
    let world = World::new().await;
    world.seed().await;
    let address = start(&world).await;
    let code_of = |document: &Value| {
        let remove = &document["paths"]["/users/not-me"]["post"]["requestBody"]["content"];
        remove["application/json"]["example"].clone()
    };
    let first = code_of(&document(&world, address).await);
    assert_eq!(code_of(&document(&world, address).await), first);
    let removal = Request::post(format!("http://{address}/api/v1/users/not-me"))
        .body(Full::from(first.to_string()))
        .unwrap();
    assert_eq!(send(removal).await.status(), 200);
    assert_ne!(code_of(&document(&world, address).await), first);
}

#[tokio::test]
async fn store_without_demonstration_data_gets_no_accounts_from_the_page() {
    let world = World::new().await;
    let address = start(&world).await;
    let before = world.items("records").len();
    let document = document(&world, address).await;
    assert_eq!(document["x-accounts"].as_array().unwrap().len(), 1);
    assert_eq!(world.items("records").len(), before);
}

#[tokio::test]
async fn script_is_compressed_and_read_once() {
    let world = World::new().await;
    let address = start(&world).await;
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
