//! Keys follow each other, and nobody notices.

use std::time::Duration;

use common::Message;
use identity::{NamedKey, token::PublicKey};
use serde_json::json;
use tests::{Authenticator, PASSWORD, World};

#[tokio::test]
async fn old_tokens_stay_good_until_they_end() {
    let world = World::new().await;
    let member = world.member().await;
    let new = NamedKey::generate("next");
    let public = format!(
        "{},{}",
        PublicKey::of(&new),
        world.setting("TOKEN_PUBLIC_KEYS")
    );
    let next = world.another_process_with(&[
        ("TOKEN_SIGNING_KEY", &new.to_setting()),
        ("TOKEN_PUBLIC_KEYS", &public),
    ]);
    member.before(&next).get("/auth/check").await.shows();
    let signed_in = next
        .stranger()
        .before(&next)
        .login(member.user().email.as_str(), PASSWORD)
        .await;
    signed_in.tells(Message::LoginSuccess);
    let without_old =
        next.another_process_with(&[("TOKEN_PUBLIC_KEYS", &PublicKey::of(&new).to_string())]);
    let person = next.stranger().holding(signed_in.header("authorization"));
    person.before(&without_old).get("/auth/check").await.shows();
    assert_eq!(
        member.before(&without_old).get("/auth/check").await.status,
        401
    );
}

#[tokio::test]
async fn after_resealing_the_old_key_can_go() {
    let world = World::new().await;
    let mut people = Vec::new();
    for _ in 0..3 {
        let member = world.member().await;
        people.push((Authenticator::enrolled_by(&world, &member).await, member));
    }
    let (new, old) = (
        NamedKey::generate("next").to_setting(),
        world.setting("SEALING_KEYS"),
    );
    let both = world.another_process_with(&[("SEALING_KEYS", &format!("{new},{old}"))]);
    let resealed = ops::reseal(both.setup()).await.unwrap();
    assert_eq!((resealed.done, resealed.unreadable), (3, 0));
    assert_eq!(
        ops::reseal(both.setup()).await.unwrap().done,
        0,
        "there is nothing left to do"
    );

    let new_alone = world.another_process_with(&[("SEALING_KEYS", &new)]);
    world.clock().advance(Duration::from_secs(30));
    for (number, (authenticator, member)) in people.iter().enumerate() {
        let stranger = new_alone.stranger().before(&new_alone);
        let step = stranger
            .login(member.user().email.as_str(), PASSWORD)
            .await
            .tells(Message::OtpRequired);
        let arriving = stranger.holding(step["token"].as_str().unwrap());
        let wish = if number == 0 {
            json!({ "recoveryCode": authenticator.recovery_codes[0] })
        } else {
            json!({ "code": authenticator.code(&world) })
        };
        arriving
            .post("/otp/verify", wish)
            .await
            .tells(Message::OtpVerified);
    }
}

#[tokio::test]
async fn a_code_that_was_sent_under_the_old_key_still_works_beside_the_new_one() {
    let world = World::new().await;
    world
        .stranger()
        .post(
            "/auth/passwordless",
            json!({ "email": "admin@example.org" }),
        )
        .await
        .tells(Message::PasswordlessSent);
    let link = world.mailed_link("admin@example.org").await;
    let keys = format!(
        "{},{}",
        NamedKey::generate("next").to_setting(),
        world.setting("SEALING_KEYS")
    );
    let next = world.another_process_with(&[("SEALING_KEYS", &keys)]);
    let stranger = next.stranger().before(&next);
    stranger
        .get(&format!("/auth/passwordless?code={link}"))
        .await
        .tells(Message::LoginSuccess);
}
