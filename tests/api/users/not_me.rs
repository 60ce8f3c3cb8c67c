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

#[tokio::test]
async fn account_whose_registration_sent_no_mail_is_removed_by_a_later_one() {
    for kind in ["sign in", "reset", "verify"] {
        let world = World::new().await;
        for _ in 0..3 {
            registrant(&world).await;
            let code = removal_code(&world).await;
            not_me(&world, &code).await.expect_success(Message::AccountRemoved);
        }
        let mails = world.mails(ADDRESS).await.len();
        let attacker = registrant(&world).await;
        assert_eq!(world.mails(ADDRESS).await.len(), mails);
        let owner = world.anonymous();
        match kind {
            "sign in" => drop(owner.ask_to_sign_in(ADDRESS, "email").await),
            "reset" => owner.ask_to_reset(ADDRESS, "email").await,
            _ => drop(attacker.post("/users/email-verification", json!({})).await.expect_ok()),
        }
        let code = removal_code(&world).await;
        not_me(&world, &code).await.expect_success(Message::AccountRemoved);
        assert!(sign_in(&world).await.is_none(), "{kind}");
    }
}

#[tokio::test]
async fn mail_to_a_verified_mailbox_has_no_link_that_removes_the_account() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    world.anonymous().ask_to_reset(email, "email").await;
    let text = world.mails(email).await[0]["text"].to_string();
    assert!(text.contains("/reset-password#code=") && !text.contains("/not-me"), "{text}");
}
