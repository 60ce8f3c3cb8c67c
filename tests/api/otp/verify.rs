use std::time::Duration;

use common::{ErrorCode, Message};
use futures_util::future::{join, join_all};
use identity::NamedKey;
use serde_json::{Value, json};
use store::CommitOutcome;
use tests::{PASSWORD, Person, TotpApp, World, expect_fields};

const STEP: Duration = Duration::from_secs(30);

/// A member with OTP, one time step after enrolment.
async fn enrolled(world: &World) -> (Person, TotpApp) {
    let member = world.member().await;
    let totp_app = TotpApp::enrolled_by(world, &member).await;
    world.clock().advance(STEP);
    (member, totp_app)
}

/// A person who has entered the password and still needs the OTP code.
async fn otp_step(world: &World, member: &Person) -> Person {
    let answer = world.anonymous().login(member.user().email.as_str(), PASSWORD).await;
    let anonymous = world.anonymous();
    anonymous.with_token(answer.expect_success(Message::OtpRequired)["token"].as_str().unwrap())
}

async fn verify(person: &Person, code: &str) -> tests::Answer {
    person.post("/otp/verify", json!({ "code": code })).await
}

/// Sends `payload` fifty times at once in ten sign-ins of `member`, of which exactly one succeeds.
async fn sign_in_fifty_times_at_once(world: &World, member: &Person, payload: &Value) {
    let mut steps = Vec::new();
    for _ in 0..10 {
        steps.push(otp_step(world, member).await);
    }
    let before = member.session_count().await;
    let calls = (0..50)
        .map(|number| steps[number % 10].post_until_answered("/otp/verify", payload.clone()));
    let answers = world.race(2, join_all(calls)).await;
    assert_eq!(member.session_count().await, before + 1, "{answers:?}");
    // On a busy machine the store may not answer in time: then one of the 503 began the session.
    let signed_in = answers.iter().filter(|answer| answer.status == 201).count();
    assert!(signed_in <= 1, "{answers:?}");
    assert!(answers.iter().all(|answer| [201, 400, 401, 429, 503].contains(&answer.status)));
}

#[tokio::test]
async fn first_code_enables_otp_ends_sessions_and_returns_recovery_codes() {
    let (world, member) = World::with_member().await;
    let elsewhere = world.signed_in(member.user().clone()).await;
    let totp_app = TotpApp::pending_of(&member).await;
    let answer = verify(&member, &totp_app.code(&world)).await;
    let body = answer.expect_success(Message::OtpVerified);
    expect_fields(&body["user"], json!({ "isOtpEnabled": true, "isOtpVerified": true }));
    assert_eq!(body["recoveryCodes"].as_array().unwrap().len(), 10);
    assert_eq!(answer.header("authorization"), body["user"]["token"].as_str().unwrap());
    elsewhere.get("/auth/check").await.expect_unauthorized();
    member.get("/auth/check").await.expect_ok();
    member.with_token(answer.header("authorization")).get("/auth/check").await.expect_ok();
    let again =
        json!({ "code": totp_app.code_in(&world, 1), "recoveryCode": body["recoveryCodes"][0] });
    member.post("/otp/verify", again).await.expect_error(ErrorCode::OtpInvalid);
    let mails = world.mails(member.user().email.as_str()).await;
    assert!(mails[0]["subject"].as_str().unwrap().contains("authentification"), "{mails:?}");
}

#[tokio::test]
async fn enrolment_does_not_make_the_sign_in_younger() {
    let (world, member) = World::with_member().await;
    let app = TotpApp::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(540));
    let new = TotpApp::pending_of(&member).await;
    let body = json!({ "code": new.code(&world), "currentCode": app.code(&world) });
    let answer = member.post("/otp/verify", body).await;
    let token = answer.expect_success(Message::OtpVerified)["user"]["token"].clone();
    world.clock().advance(Duration::from_secs(60));
    for person in [&member, &member.with_token(token.as_str().unwrap())] {
        person.get("/otp/generate").await.expect_error(ErrorCode::Reauthentication);
        verify(person, "123456").await.expect_error(ErrorCode::Reauthentication);
    }
}

#[tokio::test]
async fn secret_is_replaced_with_a_code_of_the_present_one() {
    let world = World::new().await;
    let (member, app) = enrolled(&world).await;
    let new = TotpApp::pending_of(&member).await;
    let code = new.code(&world);
    verify(&member, &code).await.expect_field_error("currentCode", ErrorCode::FieldRequired);
    for wrong in [json!({ "currentCode": code }), json!({ "recoveryCode": "ABCDE" })] {
        let mut body = wrong;
        body["code"] = json!(code);
        member.post("/otp/verify", body).await.expect_error(ErrorCode::OtpInvalid);
    }
    otp_step(&world, &member).await;
    let body = json!({ "code": code, "recoveryCode": app.recovery_codes[0] });
    member.post("/otp/verify", body).await.expect_success(Message::OtpVerified);
    let step = otp_step(&world, &member).await;
    let old = json!({ "recoveryCode": app.recovery_codes[1] });
    step.post("/otp/verify", old).await.expect_error(ErrorCode::OtpInvalid);
}

#[tokio::test]
async fn first_code_sent_ten_times_at_once_keeps_the_session() {
    let (world, member) = World::with_member().await;
    let totp_app = TotpApp::pending_of(&member).await;
    let code = totp_app.code(&world);
    let answers = world.race(2, join_all((0..10).map(|_| verify(&member, &code)))).await;
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort();
    assert_eq!(statuses, [201, 400, 400, 400, 400, 400, 400, 400, 400, 400]);
    member.get("/auth/check").await.expect_ok();
}

#[tokio::test]
async fn account_that_is_no_longer_verified_cannot_enable_otp() {
    let (world, member) = World::with_member().await;
    let totp_app = TotpApp::pending_of(&member).await;
    world.admin().await.change_member(member.user().user_id, json!({ "isVerified": false })).await;
    verify(&member, &totp_app.code(&world)).await.expect_error(ErrorCode::AccountNotVerified);
}

/// As after a password change by another request of the session.
#[tokio::test]
async fn enrolment_of_a_session_renewed_meanwhile_is_invalid() {
    for turns in 0..40 {
        let world = World::new().await;
        let member = world.member().await;
        let code = TotpApp::pending_of(&member).await.code(&world);
        let renewal = world.renewal(&member).await;
        let renew = async {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
            renewal.commit().await.unwrap()
        };
        let both = join(verify(&member, &code), renew);
        let (answer, renewed) = if turns == 0 { world.race(2, both).await } else { both.await };
        match renewed {
            CommitOutcome::Committed => answer.expect_error(ErrorCode::OtpInvalid),
            CommitOutcome::ConditionFailed(_) => {
                drop(answer.expect_success(Message::OtpVerified));
            }
        }
        member.get("/auth/check").await.expect_ok();
    }
}

#[tokio::test]
async fn otp_sign_in_gives_a_short_session() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let answer = verify(&otp_step(&world, &member).await, &totp_app.code(&world)).await;
    let view = answer.expect_success(Message::OtpVerified);
    assert_eq!(
        (view["user"].as_object().unwrap().len(), &view["recoveryCodes"]),
        (25, &Value::Null)
    );
    let part = answer.header("authorization").split('.').nth(1).unwrap();
    let claims: Value =
        serde_json::from_slice(&data_encoding::BASE64URL_NOPAD.decode(part.as_bytes()).unwrap())
            .unwrap();
    assert_eq!(claims["amr"], json!(["pwd", "otp"]));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 4 * 3600);
}

#[tokio::test]
async fn code_works_once_and_older_codes_are_rejected() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let (previous, current) = (totp_app.code_in(&world, 0), totp_app.code_in(&world, 1));
    verify(&otp_step(&world, &member).await, &current).await.expect_success(Message::OtpVerified);
    for replayed in [&current, &previous] {
        let answer = verify(&otp_step(&world, &member).await, replayed).await;
        answer.expect_error(ErrorCode::OtpInvalid);
    }
    world.clock().advance(2 * STEP);
    verify(&otp_step(&world, &member).await, &totp_app.code(&world)).await.expect_created();
}

#[tokio::test]
async fn code_used_fifty_times_at_once_signs_in_once() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let code = totp_app.code(&world);
    sign_in_fifty_times_at_once(&world, &member, &json!({ "code": code })).await;
}

#[tokio::test]
async fn recovery_code_used_fifty_times_at_once_signs_in_once() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let payload = json!({ "recoveryCode": totp_app.recovery_codes[0] });
    sign_in_fifty_times_at_once(&world, &member, &payload).await;
}

#[tokio::test]
async fn sign_in_step_can_be_completed_once() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let step = otp_step(&world, &member).await;
    verify(&step, &totp_app.code(&world)).await.expect_success(Message::OtpVerified);
    verify(&step, &totp_app.code_in(&world, 1)).await.expect_unauthorized();
}

#[tokio::test]
async fn completed_step_is_reported_before_body_errors() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let step = otp_step(&world, &member).await;
    verify(&step, &totp_app.code(&world)).await.expect_success(Message::OtpVerified);
    for body in [json!({}), json!({ "code": "000000" }), json!({ "code": 5 })] {
        step.post("/otp/verify", body).await.expect_unauthorized();
    }
}

#[tokio::test]
async fn recovery_code_works_once_in_any_spelling_and_notifies_the_owner() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let code = totp_app.recovery_codes[3].to_lowercase().replace('-', " ");
    let payload = json!({ "recoveryCode": code });
    otp_step(&world, &member).await.post("/otp/verify", payload.clone()).await.expect_created();
    let answer = otp_step(&world, &member).await.post("/otp/verify", payload).await;
    answer.expect_error(ErrorCode::OtpInvalid);
    let mails = world.mails(member.user().email.as_str()).await;
    assert!(
        mails.iter().any(|mail| mail["subject"].as_str().unwrap().contains("secours")),
        "{mails:?}"
    );
}

#[tokio::test]
async fn invalid_code_returns_400() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let step = otp_step(&world, &member).await;
    for code in ["12345", "abcdef", "12\n34", &"1".repeat(129)] {
        verify(&step, code).await.expect_error(ErrorCode::OtpInvalid);
    }
    verify(&step, &totp_app.code_in(&world, 3)).await.expect_error(ErrorCode::OtpInvalid);
    step.post("/otp/verify", json!({ "recoveryCode": "ABCDE-FGHJK-MNPQR-STUVW-XYZ23" }))
        .await
        .expect_error(ErrorCode::OtpInvalid);
    verify(&world.member().await, "123456").await.expect_error(ErrorCode::OtpInvalid);
    verify(&world.anonymous(), "123456").await.expect_unauthorized();
}

#[tokio::test]
async fn five_wrong_codes_end_the_step_ten_block_all_but_recovery_codes() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let (member, totp_app) = enrolled(&world).await;
    for _ in 0..2 {
        let step = otp_step(&world, &member).await;
        for _ in 0..5 {
            verify(&step, "abcdef").await.expect_error(ErrorCode::OtpInvalid);
        }
        verify(&step, &totp_app.code(&world)).await.expect_error(ErrorCode::TooManyAttempts);
    }
    let step = otp_step(&world, &member).await;
    let refused = verify(&step, &totp_app.code(&world)).await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() <= 3600);
    member.get("/auth/check").await.expect_ok();
    step.post("/otp/verify", json!({ "recoveryCode": totp_app.recovery_codes[0] }))
        .await
        .expect_created();
    world.clock().advance(Duration::from_secs(3600));
    verify(&otp_step(&world, &member).await, &totp_app.code(&world)).await.expect_created();
}

#[tokio::test]
async fn thirty_wrong_codes_of_a_day_block_all_but_recovery_codes() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let (member, totp_app) = enrolled(&world).await;
    for _ in 0..3 {
        for _ in 0..2 {
            let step = otp_step(&world, &member).await;
            for _ in 0..5 {
                verify(&step, "abcdef").await.expect_error(ErrorCode::OtpInvalid);
            }
        }
        world.clock().advance(Duration::from_secs(3600));
    }
    let step = otp_step(&world, &member).await;
    let refused = verify(&step, &totp_app.code(&world)).await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 3600);
    step.post("/otp/verify", json!({ "recoveryCode": totp_app.recovery_codes[0] }))
        .await
        .expect_created();
}

#[tokio::test]
async fn wrong_recovery_codes_of_one_network_lock_out_no_other() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let (member, totp_app) = enrolled(&world).await;
    let network = otp_step(&world, &member).await;
    let recover = async |step: &Person, code: &str| {
        step.post("/otp/verify", json!({ "recoveryCode": code })).await
    };
    for _ in 0..2 {
        let step = otp_step(&world, &member).await;
        let step = network.with_token(step.token());
        for _ in 0..5 {
            recover(&step, "aaaaa-aaaaa-aaaaa").await.expect_error(ErrorCode::OtpInvalid);
        }
    }
    let owner = otp_step(&world, &member).await;
    let answer = recover(&network.with_token(owner.token()), &totp_app.recovery_codes[0]).await;
    answer.expect_error(ErrorCode::TooManyAttempts);
    recover(&owner, &totp_app.recovery_codes[0]).await.expect_success(Message::OtpVerified);
}

#[tokio::test]
async fn five_wrong_codes_discard_a_pending_secret() {
    let (world, member) = World::with_member().await;
    let first = member.get("/otp/generate").await.json()["otpAscii"].as_str().unwrap().to_owned();
    for _ in 0..5 {
        verify(&member, "abcdef").await.expect_error(ErrorCode::OtpInvalid);
    }
    verify(&member, &TotpApp::with(&first).code(&world)).await.expect_error(ErrorCode::OtpInvalid);
    let second = member.get("/otp/generate").await.json()["otpAscii"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    verify(&member, &TotpApp::with(&second).code(&world)).await.expect_created();
}

#[tokio::test]
async fn step_ends_after_five_minutes_or_with_account_or_password_change() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let email = member.user().email.as_str();
    let late = otp_step(&world, &member).await;
    world.clock().advance(Duration::from_secs(300));
    verify(&late, &totp_app.code(&world)).await.expect_unauthorized();

    let step = otp_step(&world, &member).await;
    member.change_password(PASSWORD, "trois chats sur un mur").await.expect_ok();
    verify(&step, &totp_app.code(&world)).await.expect_unauthorized();

    let answer = world.anonymous().login(email, "trois chats sur un mur").await;
    let step = answer.expect_success(Message::OtpRequired);
    let step = world.anonymous().with_token(step["token"].as_str().unwrap());
    let admin = world.admin().await;
    for is_active in [false, true] {
        admin.set_active(member.user().user_id, is_active).await;
        verify(&step, &totp_app.code(&world)).await.expect_unauthorized();
    }
}

#[tokio::test]
async fn token_is_valid_for_its_own_step_only() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let step = otp_step(&world, &member).await;
    for path in ["/auth/check", "/otp/generate", "/users/activity"] {
        step.get(path).await.expect_unauthorized();
    }
    let requested = world.anonymous().ask_to_sign_in(&member.user().email, "email").await;
    let pending = world.anonymous().with_token(requested["token"].as_str().unwrap());
    verify(&pending, &totp_app.code(&world)).await.expect_unauthorized();
    let code = world.mailed_code(member.user().email.as_str()).await;
    step.get(&format!("/auth/passwordless?code={code}")).await.expect_unauthorized();
    verify(&step, &totp_app.code(&world)).await.expect_success(Message::OtpVerified);
}

#[tokio::test]
async fn ten_unreadable_secrets_do_not_count_as_wrong_codes_at_sign_in() {
    let world = World::new().await;
    let (member, totp_app) = enrolled(&world).await;
    let step = otp_step(&world, &member).await;
    let other_key = NamedKey::generate("other").to_setting();
    let misconfigured = world.another_process_with(&[("SEALING_KEYS", &other_key)]);
    for _ in 0..10 {
        let answer = verify(&step.via(&misconfigured), &totp_app.code(&world)).await;
        answer.expect_error(ErrorCode::Internal);
    }
    verify(&step, &totp_app.code(&world)).await.expect_success(Message::OtpVerified);
}
