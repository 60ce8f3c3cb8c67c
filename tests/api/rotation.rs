//! Key rotation without interruption.

use std::time::Duration;

use common::Message;
use identity::{NamedKey, token::PublicKey};
use serde_json::json;
use tests::{PASSWORD, TotpApp, World};

#[tokio::test]
async fn tokens_of_the_old_signing_key_stay_valid_until_it_is_removed() {
    let (world, member) = World::with_member().await;
    let new = NamedKey::generate("next");
    let public = format!("{},{}", PublicKey::of(&new), world.setting("TOKEN_PUBLIC_KEYS"));
    let next = world.another_process_with(&[
        ("TOKEN_SIGNING_KEY", &new.to_setting()),
        ("TOKEN_PUBLIC_KEYS", &public),
    ]);
    member.via(&next).get("/auth/check").await.expect_ok();
    let signed_in = next.anonymous().via(&next).login(member.user().email.as_str(), PASSWORD).await;
    signed_in.expect_success(Message::LoginSuccess);
    let without_old =
        next.another_process_with(&[("TOKEN_PUBLIC_KEYS", &PublicKey::of(&new).to_string())]);
    let person = next.anonymous().with_token(signed_in.header("authorization"));
    person.via(&without_old).get("/auth/check").await.expect_ok();
    assert_eq!(member.via(&without_old).get("/auth/check").await.status, 401);
}

#[tokio::test]
async fn retired_sealing_key_is_unused_after_reseal() {
    let world = World::new().await;
    let mut people = Vec::new();
    for _ in 0..3 {
        let member = world.member().await;
        people.push((TotpApp::enrolled_by(&world, &member).await, member));
    }
    let (new, old) = (NamedKey::generate("next").to_setting(), world.setting("SEALING_KEYS"));
    let both = world.another_process_with(&[("SEALING_KEYS", &format!("{new},{old}"))]);
    world.cloud().settle();
    let resealed = ops::reseal(both.setup()).await.unwrap();
    assert_eq!((resealed.done, resealed.unreadable), (3, 0));
    world.cloud().settle();
    assert_eq!(ops::reseal(both.setup()).await.unwrap().done, 0, "nothing is left to reseal");

    let new_alone = world.another_process_with(&[("SEALING_KEYS", &new)]);
    world.clock().advance(Duration::from_secs(30));
    for (number, (totp_app, member)) in people.iter().enumerate() {
        let anonymous = new_alone.anonymous().via(&new_alone);
        let answer = anonymous.login(member.user().email.as_str(), PASSWORD).await;
        let step = answer.expect_success(Message::OtpRequired);
        let pending_sign_in = anonymous.with_token(step["token"].as_str().unwrap());
        let payload = if number == 0 {
            json!({ "recoveryCode": totp_app.recovery_codes[0] })
        } else {
            json!({ "code": totp_app.code(&world) })
        };
        pending_sign_in.post("/otp/verify", payload).await.expect_success(Message::OtpVerified);
    }
}

#[tokio::test]
async fn code_sent_under_the_old_sealing_key_stays_valid() {
    let world = World::new().await;
    world.anonymous().ask_to_sign_in("admin@example.org", "email").await;
    let link = world.mailed_link("admin@example.org").await;
    let keys =
        format!("{},{}", NamedKey::generate("next").to_setting(), world.setting("SEALING_KEYS"));
    let next = world.another_process_with(&[("SEALING_KEYS", &keys)]);
    let answer = next.anonymous().via(&next).get(&format!("/auth/passwordless?code={link}")).await;
    answer.expect_success(Message::LoginSuccess);
}
