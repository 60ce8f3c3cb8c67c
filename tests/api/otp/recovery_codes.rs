use std::time::Duration;

use common::{ErrorCode, Message};
use serde_json::json;
use tests::{Authenticator, PASSWORD, World};

#[tokio::test]
async fn a_good_code_gives_ten_new_ones_and_the_former_are_dead() {
    let world = World::new().await;
    let member = world.member().await;
    let authenticator = Authenticator::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    let code = authenticator.code(&world);
    let body = member
        .post("/otp/recovery-codes", json!({ "code": code }))
        .await
        .tells(Message::RecoveryCodes);
    let new = body["recoveryCodes"].as_array().unwrap();
    assert!(
        new.len() == 10
            && new.iter().all(|code| !authenticator
                .recovery_codes
                .contains(&code.as_str().unwrap().to_owned()))
    );
    member
        .post("/otp/recovery-codes", json!({ "code": code }))
        .await
        .refuses(ErrorCode::OtpInvalid);

    let answer = world
        .stranger()
        .login(member.user().email.as_str(), PASSWORD)
        .await;
    let step = world.stranger().holding(
        answer.tells(Message::OtpRequired)["token"]
            .as_str()
            .unwrap(),
    );
    step.post(
        "/otp/verify",
        json!({ "recoveryCode": authenticator.recovery_codes[0] }),
    )
    .await
    .refuses(ErrorCode::OtpInvalid);
    step.post("/otp/verify", json!({ "recoveryCode": new[0] }))
        .await
        .tells(Message::OtpVerified);
}

#[tokio::test]
async fn without_one_time_passwords_there_are_none() {
    let world = World::new().await;
    world
        .member()
        .await
        .post("/otp/recovery-codes", json!({ "code": "123456" }))
        .await
        .refuses(ErrorCode::OtpInvalid);
    world
        .member()
        .await
        .post("/otp/recovery-codes", json!({}))
        .await
        .refuses_field("code", ErrorCode::FieldRequired);
}
