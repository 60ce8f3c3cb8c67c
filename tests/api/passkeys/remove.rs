use common::{ErrorCode, Message};
use serde_json::json;
use tests::{Authenticator, World};

use super::path_of_newest;

#[tokio::test]
async fn deleted_passkey_signs_nobody_in_and_can_be_added_again() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let path = path_of_newest(&member).await;
    member.delete(&path).await.expect_success(Message::PasskeyDeleted);
    authenticator.sign_in(&world.anonymous()).await.expect_unauthorized();
    member.delete(&path).await.expect_error(ErrorCode::PasskeyNotFound);
    let mails = world.mails(member.user().email.as_str()).await;
    assert_eq!(mails.len(), 2, "added, removed: {mails:?}");
    authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
}

#[tokio::test]
async fn passkey_of_another_account_is_not_found() {
    let (world, member) = World::with_member().await;
    Authenticator::registered_by(&member).await;
    let path = path_of_newest(&member).await;
    let other = world.member().await;
    for path in [path.as_str(), "/passkeys/x"] {
        other.put(path, json!({ "name": "x" })).await.expect_error(ErrorCode::PasskeyNotFound);
        other.delete(path).await.expect_error(ErrorCode::PasskeyNotFound);
    }
    assert_eq!(other.get("/passkeys").await.expect_ok()["passkeys"], json!([]));
}
