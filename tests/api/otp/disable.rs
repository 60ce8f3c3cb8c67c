use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use identity::NamedKey;
use serde_json::{Value, json};
use tests::{Answer, PASSWORD, Person, TotpApp, World, expect_fields};

async fn disable(person: &Person, payload: Value) -> Answer {
    person.delete_with("/otp", payload).await
}

async fn enrolled(world: &World) -> (Person, TotpApp) {
    let member = world.member().await;
    let totp_app = TotpApp::enrolled_by(world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    (member, totp_app)
}

#[tokio::test]
async fn password_and_code_disable_otp_and_notify_the_owner() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    disable(&member, json!({ "password": PASSWORD, "code": totp_app.code(&world) }))
        .await
        .expect_ok();
    world.anonymous().sign_in(member.user().email.as_str(), PASSWORD).await;
    let view = member.get("/auth/check").await.expect_ok();
    expect_fields(&view["user"], json!({ "isOtpEnabled": false, "isOtpVerified": false }));
    assert_eq!(world.mails(member.user().email.as_str()).await.len(), 2, "enabled, disabled");
    disable(&member, json!({ "password": PASSWORD, "code": totp_app.code(&world) }))
        .await
        .expect_error(ErrorCode::OtpInvalid);
}

#[tokio::test]
async fn recovery_code_disables_otp() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    disable(&member, json!({ "password": PASSWORD, "recoveryCode": totp_app.recovery_codes[9] }))
        .await
        .expect_ok();
    assert_eq!(world.mails(member.user().email.as_str()).await.len(), 2, "enabled, disabled");
}

#[tokio::test]
async fn fields_are_checked_then_password_then_code() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    disable(&member, json!({})).await.expect_field_error("code", ErrorCode::FieldRequired);
    let answer = disable(&member, json!({ "code": totp_app.code(&world) })).await;
    answer.expect_field_error("password", ErrorCode::FieldRequired);
    disable(&member, json!({ "password": "x", "code": "abcdef" })).await.expect_unauthorized();
    let answer = disable(&member, json!({ "password": PASSWORD, "code": "abcdef" })).await;
    answer.expect_error(ErrorCode::OtpInvalid);
    disable(&member, json!({ "password": PASSWORD, "code": totp_app.code(&world) }))
        .await
        .expect_ok();
}

#[tokio::test]
async fn wrong_password_and_wrong_code_have_separate_counters() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    for number in 0..6 {
        let elsewhere = member.at(&format!("10.7.0.{number}"));
        disable(&elsewhere, json!({ "password": "x", "code": totp_app.code(&world) }))
            .await
            .expect_unauthorized();
    }
    for _ in 0..5 {
        let answer = disable(&member, json!({ "password": PASSWORD, "code": "abcdef" })).await;
        answer.expect_error(ErrorCode::OtpInvalid);
    }
    disable(&member, json!({ "password": PASSWORD, "code": totp_app.code(&world) }))
        .await
        .expect_error(ErrorCode::TooManyAttempts);
    member.login(member.user().email.as_str(), PASSWORD).await.expect_success(Message::OtpRequired);
}

#[tokio::test]
async fn ten_unreadable_secrets_do_not_count_as_wrong_codes() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let other_key = NamedKey::generate("other").to_setting();
    let misconfigured = world.another_process_with(&[("SEALING_KEYS", &other_key)]);
    let payload = json!({ "password": PASSWORD, "code": totp_app.code(&world) });
    for _ in 0..10 {
        let answer = disable(&member.via(&misconfigured), payload.clone()).await;
        answer.expect_error(ErrorCode::Internal);
    }
    disable(&member, payload).await.expect_success(Message::OtpDisabled);
}

#[tokio::test]
async fn administrator_with_a_short_password_keeps_otp() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let app = TotpApp::enrolled_by(&world, &admin).await;
    let short = "kelibia 9";
    admin.change_password(PASSWORD, short).await.expect_success(Message::PasswordChanged);
    world.clock().advance(Duration::from_secs(30));
    let body = json!({ "password": short, "code": app.code(&world) });
    // One more than wrong passwords are allowed: the right one is not counted as wrong.
    for _ in 0..11 {
        let answer = disable(&admin, body.clone()).await;
        answer.expect_field_error("password", ErrorCode::PasswordTooShort);
        assert_eq!(answer.json()["errors"][0]["min"], 15);
    }
    admin.change_password(short, PASSWORD).await.expect_success(Message::PasswordChanged);
    let body = json!({ "password": PASSWORD, "code": app.code(&world) });
    disable(&admin, body).await.expect_success(Message::OtpDisabled);
}
