use serde_json::json;
use tests::{Authenticator, World};

use super::path_of_newest;

#[tokio::test]
async fn passkey_is_renamed() {
    let (_, member) = World::with_member().await;
    Authenticator::registered_by(&member).await;
    let path = path_of_newest(&member).await;
    let renamed = member.put(&path, json!({ "name": " Clé USB " })).await.expect_ok();
    assert_eq!(renamed["passkey"]["name"], "Clé USB");
    assert_eq!(member.get("/passkeys").await.expect_ok()["passkeys"], json!([renamed["passkey"]]));
}
