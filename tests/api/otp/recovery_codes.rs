use std::time::Duration;

use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use serde_json::json;
use tests::{PASSWORD, TotpApp, World};

#[tokio::test]
async fn valid_code_returns_ten_new_codes_and_invalidates_old_ones() {
    let (world, member) = World::with_member().await;
    let totp_app = TotpApp::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    let code = totp_app.code(&world);
    let body = member.post("/otp/recovery-codes", json!({ "code": code })).await.expect_created();
    let new = body["recoveryCodes"].as_array().unwrap();
    assert!(
        new.len() == 10
            && new
                .iter()
                .all(|code| !totp_app.recovery_codes.contains(&code.as_str().unwrap().to_owned()))
    );
    let answer = member.post("/otp/recovery-codes", json!({ "code": code })).await;
    answer.expect_error(ErrorCode::OtpInvalid);

    let answer = world.anonymous().login(member.user().email.as_str(), PASSWORD).await;
    let step = world
        .anonymous()
        .with_token(answer.expect_success(Message::OtpRequired)["token"].as_str().unwrap());
    step.post("/otp/verify", json!({ "recoveryCode": totp_app.recovery_codes[0] }))
        .await
        .expect_error(ErrorCode::OtpInvalid);
    step.post("/otp/verify", json!({ "recoveryCode": new[0] })).await.expect_created();
}

#[tokio::test]
async fn account_without_otp_has_no_recovery_codes() {
    let world = World::new().await;
    world
        .member()
        .await
        .post("/otp/recovery-codes", json!({ "code": "123456" }))
        .await
        .expect_error(ErrorCode::OtpInvalid);
}

#[tokio::test]
async fn ten_store_faults_do_not_count_as_wrong_codes() {
    let (world, member) = World::with_member().await;
    let totp_app = TotpApp::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    let payload = json!({ "code": totp_app.code(&world) });
    world.inject_fault(Fault::new(Mode::Refuse).on("GetItem"));
    for _ in 0..10 {
        let answer = member.post("/otp/recovery-codes", payload.clone()).await;
        answer.expect_error(ErrorCode::Unavailable);
    }
    world.clear_faults();
    member.post("/otp/recovery-codes", payload).await.expect_success(Message::RecoveryCodes);
}
