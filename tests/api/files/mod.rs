mod complete;
mod create;
mod media;
mod my_files;
mod public;
mod remove;
mod show;

use bytes::Bytes;
use common::Message;
use domain::FileId;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use storage::Bucket;
use tests::{Person, World};

/// The request for a text file of `size` bytes.
fn payload(name: &str, size: usize) -> Value {
    json!({ "name": name, "contentType": "text/plain", "size": size })
}

/// Sends a request to the bucket: status, headers and body of the response.
async fn ask(request: Request<Full<Bytes>>) -> (u16, http::HeaderMap, Bytes) {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let (parts, body) = client.request(request).await.expect("the bucket answers").into_parts();
    (parts.status.as_u16(), parts.headers, body.collect().await.expect("a body").to_bytes())
}

/// Uploads `content` as a browser sends a form, with the fields of `upload` except those in `changed`.
async fn send_changed(upload: &Value, changed: &[(&str, &str)], content: &[u8]) -> u16 {
    let mut body = Vec::new();
    for (name, value) in upload["fields"].as_object().unwrap() {
        let value = changed
            .iter()
            .find(|(field, _)| field == name)
            .map_or(value.as_str().unwrap(), |(_, value)| value);
        body.extend(
            format!(
                "--limit\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            )
            .bytes(),
        );
    }
    body.extend(
        b"--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n",
    );
    body.extend(content);
    body.extend(b"\r\n--limit--\r\n");
    let request = Request::post(upload["url"].as_str().unwrap())
        .header("content-type", "multipart/form-data; boundary=limit");
    ask(request.body(Full::new(body.into())).unwrap()).await.0
}

async fn send(upload: &Value, content: &[u8]) -> u16 {
    send_changed(upload, &[], content).await
}

/// Sends a GET to `url`, such as a signed link.
pub(crate) async fn fetch(url: &str) -> (u16, http::HeaderMap, Bytes) {
    ask(Request::builder().method(Method::GET).uri(url).body(Full::default()).unwrap()).await
}

/// The content that the link of the file `id` leads to.
async fn content(owner: &Person, id: &str) -> Bytes {
    let shown = owner.get(&format!("/files/{id}")).await.expect_ok();
    let (status, _, body) = fetch(shown["file"]["url"].as_str().unwrap()).await;
    assert_eq!(status, 200);
    body
}

/// The objects of the bucket, for a caller with all rights.
pub(crate) fn bucket(world: &World) -> Bucket {
    Bucket::new(&world.setup().aws, &world.setup().settings).unwrap()
}

/// The sizes of the upload of the file `id` and of the object that is served.
async fn sizes(world: &World, id: &str) -> [Option<u64>; 2] {
    let (bucket, id) = (bucket(world), FileId::or_none(id));
    let upload = bucket.head(&storage::upload_key(id)).await.unwrap();
    let file = bucket.head(&storage::file_key(id)).await.unwrap();
    [upload, file].map(|object| object.map(|object| object.size))
}

/// Creates and uploads a file; returns its identifier.
pub(crate) async fn uploaded_only(person: &Person, payload: Value, content: &[u8]) -> String {
    let announced = person.post("/files", payload).await.expect_success(Message::FileCreated);
    assert_eq!(send(&announced["upload"], content).await, 204);
    announced["file"]["fileID"].as_str().unwrap().to_owned()
}

/// Creates, uploads and completes a file; returns its identifier.
pub(crate) async fn uploaded_file(person: &Person, payload: Value, content: &[u8]) -> String {
    let id = uploaded_only(person, payload, content).await;
    person.post(&format!("/files/{id}/complete"), json!({})).await.expect_ok();
    id
}
