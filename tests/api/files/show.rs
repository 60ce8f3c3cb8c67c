use serde_json::json;
use tests::World;

use super::{fetch, payload, uploaded_file};

#[tokio::test]
async fn owner_gets_a_signed_link_to_a_ready_file() {
    let (_, member) = World::with_member().await;
    let announced = member.post("/files", payload("b.txt", 5)).await.expect_created();
    let path = format!("/files/{}", announced["file"]["fileID"].as_str().unwrap());
    let pending = member.get(&path).await.expect_ok();
    assert_eq!(pending["file"], announced["file"]);

    let id = uploaded_file(&member, payload("Programme \"été\" ٢.txt", 5), b"hallo").await;
    let file = member.get(&format!("/files/{id}")).await.expect_ok()["file"].clone();
    let url = file["url"].as_str().unwrap();
    let (status, headers, body) = fetch(url).await;
    assert_eq!((status, &body[..]), (200, b"hallo".as_slice()));
    let disposition = "attachment; filename=\"Programme __t__ _.txt\"; filename*=UTF-8''Programme%20%22%C3%A9t%C3%A9%22%20%D9%A2.txt";
    assert_eq!(headers["content-disposition"], disposition);
    assert_eq!(headers["content-type"], "text/plain");
    // A changed link is rejected.
    for changed in
        [url.replace(&id, "x"), url.replace("attachment", "inline"), url.replace("plain", "html")]
    {
        assert_eq!(fetch(&changed).await.0, 403, "{changed}");
    }
    let bare = url.split('?').next().unwrap();
    assert_eq!(fetch(bare).await.0, 403);
    assert_eq!(file["status"], json!("READY"));
}
