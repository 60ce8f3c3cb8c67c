use std::time::Duration;

use common::{ErrorCode, Message};
use serde_json::json;
use tests::World;

use super::take_over::{ADDRESS, not_me, registrant, removal_code, sign_in, verify};

#[tokio::test]
async fn owner_removes_an_account_that_they_did_not_register() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    let code = removal_code(&world).await;
    // Neither a new code, nor a new epoch, nor wrong tries end it.
    attacker.post("/users/email-verification", json!({})).await.expect_ok();
    let admin = world.admin().await;
    for is_active in [false, true] {
        admin.set_active(attacker.user().user_id, is_active).await;
    }
    for _ in 0..21 {
        not_me(&world, "wrong").await.expect_error(ErrorCode::VerificationInvalid);
    }
    world.clock().advance(Duration::from_secs(3 * 86_400));
    not_me(&world, &code).await.expect_success(Message::AccountRemoved);
    let audit = world.admin().await.get("/audit").await.expect_ok()["audit"][0].clone();
    let id = json!(attacker.user().user_id);
    assert_eq!((&audit["action"], &audit["actorID"]), (&json!("USER_DELETED"), &id));
    attacker.get("/auth/current-user").await.expect_unauthorized();
    assert!(sign_in(&world).await.is_none());
    not_me(&world, &code).await.expect_error(ErrorCode::VerificationInvalid);
    // The address is free again.
    registrant(&world).await;
}

#[tokio::test]
async fn removal_code_is_invalid_once_the_mailbox_is_verified() {
    let world = World::new().await;
    let person = registrant(&world).await;
    let removal = removal_code(&world).await;
    let code = world.mailed_code(ADDRESS).await;
    verify(&person, ADDRESS, &code).await.expect_success(Message::EmailVerified);
    not_me(&world, &removal).await.expect_error(ErrorCode::VerificationInvalid);
    person.get("/auth/current-user").await.expect_ok();
}
