use std::time::Duration;

use common::{ErrorCode, Message};
use http::Method;
use serde_json::{Value, json};
use tests::{Answer, Authenticator, PASSWORD, Person, World};

async fn disable(person: &Person, wish: Value) -> Answer {
    person
        .json()
        .send(Method::DELETE, "/api/v1/otp", wish.to_string().into())
        .await
}

async fn enrolled(world: &World) -> (Person, Authenticator) {
    let member = world.member().await;
    let authenticator = Authenticator::enrolled_by(world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    (member, authenticator)
}

#[tokio::test]
async fn password_and_code_turn_it_off_and_the_owner_is_told() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    disable(
        &member,
        json!({ "password": PASSWORD, "code": authenticator.code(&world) }),
    )
    .await
    .tells(Message::OtpDisabled);
    world
        .stranger()
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .tells(Message::LoginSuccess);
    let view = member.get("/auth/check").await.shows();
    assert_eq!(
        (
            &view["user"]["isOtpEnabled"],
            &view["user"]["isOtpVerified"]
        ),
        (&json!(false), &json!(false))
    );
    assert_eq!(
        world.mails(member.user().email.as_str()).await.len(),
        2,
        "on, and off"
    );
    disable(
        &member,
        json!({ "password": PASSWORD, "code": authenticator.code(&world) }),
    )
    .await
    .refuses(ErrorCode::OtpInvalid);
}

#[tokio::test]
async fn a_recovery_code_does_as_well() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    disable(
        &member,
        json!({ "password": PASSWORD, "recoveryCode": authenticator.recovery_codes[9] }),
    )
    .await
    .tells(Message::OtpDisabled);
    assert_eq!(
        world.mails(member.user().email.as_str()).await.len(),
        3,
        "on, off, and a recovery code was used"
    );
}

#[tokio::test]
async fn fields_come_first_then_the_password_then_the_code() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    disable(&member, json!({}))
        .await
        .refuses(ErrorCode::Validation);
    disable(&member, json!({ "password": "x", "code": "abcdef" }))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    disable(&member, json!({ "password": PASSWORD, "code": "abcdef" }))
        .await
        .refuses(ErrorCode::OtpInvalid);
    disable(
        &member,
        json!({ "password": PASSWORD, "code": authenticator.code(&world) }),
    )
    .await
    .tells(Message::OtpDisabled);
}

#[tokio::test]
async fn a_wrong_password_counts_as_one_and_a_wrong_code_as_one() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    for number in 0..6 {
        let elsewhere = member.at(&format!("10.7.0.{number}"));
        disable(
            &elsewhere,
            json!({ "password": "x", "code": authenticator.code(&world) }),
        )
        .await
        .refuses(ErrorCode::BadAuthCombination);
    }
    for _ in 0..5 {
        disable(&member, json!({ "password": PASSWORD, "code": "abcdef" }))
            .await
            .refuses(ErrorCode::OtpInvalid);
    }
    disable(
        &member,
        json!({ "password": PASSWORD, "code": authenticator.code(&world) }),
    )
    .await
    .refuses(ErrorCode::TooManyAttempts);
    member
        .login(member.user().email.as_str(), PASSWORD)
        .await
        .tells(Message::OtpRequired);
}
