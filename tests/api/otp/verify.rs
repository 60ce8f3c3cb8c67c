use std::time::Duration;

use common::{ErrorCode, Message};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Authenticator, PASSWORD, Person, World};

const STEP: Duration = Duration::from_secs(30);

/// A member with an authenticator whose last code is a step old.
async fn enrolled(world: &World) -> (Person, Authenticator) {
    let member = world.member().await;
    let authenticator = Authenticator::enrolled_by(world, &member).await;
    world.clock().advance(STEP);
    (member, authenticator)
}

/// Somebody who has told his password.
async fn arriving(world: &World, member: &Person) -> Person {
    let answer = world
        .stranger()
        .login(member.user().email.as_str(), PASSWORD)
        .await;
    let stranger = world.stranger();
    stranger.holding(
        answer.tells(Message::OtpRequired)["token"]
            .as_str()
            .unwrap(),
    )
}

async fn verify(person: &Person, code: &str) -> tests::Answer {
    person.post("/otp/verify", json!({ "code": code })).await
}

#[tokio::test]
async fn the_first_good_code_turns_it_on_ends_other_sessions_and_gives_ten_recovery_codes_once() {
    let world = World::new().await;
    let member = world.member().await;
    let elsewhere = world.signed_in(member.user().clone()).await;
    let shown = member
        .get("/otp/generate")
        .await
        .tells(Message::OtpGenerated);
    let authenticator = Authenticator::with(shown["otpAscii"].as_str().unwrap());
    let answer = verify(&member, &authenticator.code(&world)).await;
    let body = answer.tells(Message::OtpVerified);
    assert_eq!(
        (
            &body["user"]["isOtpEnabled"],
            &body["user"]["isOtpVerified"]
        ),
        (&json!(true), &json!(true))
    );
    assert_eq!(body["recoveryCodes"].as_array().unwrap().len(), 10);
    assert_eq!(
        answer.header("authorization"),
        body["user"]["token"].as_str().unwrap()
    );
    elsewhere
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    member.get("/auth/check").await.shows();
    member
        .holding(answer.header("authorization"))
        .get("/auth/check")
        .await
        .shows();
    verify(&member, &authenticator.code_in(&world, 1))
        .await
        .refuses(ErrorCode::OtpInvalid);
    let mails = world.mails(member.user().email.as_str()).await;
    assert!(
        mails[0]["subject"]
            .as_str()
            .unwrap()
            .contains("authentification"),
        "{mails:?}"
    );
}

#[tokio::test]
async fn a_sign_in_ends_in_the_step_and_its_session_is_short() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let answer = verify(
        &arriving(&world, &member).await,
        &authenticator.code(&world),
    )
    .await;
    let view = answer.tells(Message::OtpVerified);
    assert_eq!(
        (
            view["user"].as_object().unwrap().len(),
            &view["recoveryCodes"]
        ),
        (25, &Value::Null)
    );
    let part = answer.header("authorization").split('.').nth(1).unwrap();
    let claims: Value = serde_json::from_slice(
        &data_encoding::BASE64URL_NOPAD
            .decode(part.as_bytes())
            .unwrap(),
    )
    .unwrap();
    assert_eq!(claims["amr"], json!(["pwd", "otp"]));
    assert_eq!(
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
        4 * 3600
    );
}

#[tokio::test]
async fn a_code_works_once_and_never_an_older_one_after_it() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let (previous, current) = (
        authenticator.code_in(&world, 0),
        authenticator.code_in(&world, 1),
    );
    verify(&arriving(&world, &member).await, &current)
        .await
        .tells(Message::OtpVerified);
    for replayed in [&current, &previous] {
        verify(&arriving(&world, &member).await, replayed)
            .await
            .refuses(ErrorCode::OtpInvalid);
    }
    world.clock().advance(2 * STEP);
    verify(
        &arriving(&world, &member).await,
        &authenticator.code(&world),
    )
    .await
    .tells(Message::OtpVerified);
}

#[tokio::test]
async fn of_fifty_at_once_exactly_one_signs_in_with_a_code() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let mut steps = Vec::new();
    for _ in 0..10 {
        steps.push(arriving(&world, &member).await);
    }
    let code = authenticator.code(&world);
    let answers = join_all((0..50).map(|number| verify(&steps[number % 10], &code))).await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 201).count(),
        1,
        "{answers:?}"
    );
    // the embedded store works one request at a time: for some of fifty at once it may be too busy
    assert!(
        answers
            .iter()
            .all(|answer| [201, 400, 401, 429, 503].contains(&answer.status))
    );
}

#[tokio::test]
async fn of_fifty_at_once_exactly_one_signs_in_with_a_recovery_code() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let step = arriving(&world, &member).await;
    let wish = json!({ "recoveryCode": authenticator.recovery_codes[0] });
    let answers = join_all((0..50).map(|_| step.post("/otp/verify", wish.clone()))).await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 201).count(),
        1,
        "{answers:?}"
    );
}

#[tokio::test]
async fn the_step_of_a_sign_in_is_done_once() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let step = arriving(&world, &member).await;
    verify(&step, &authenticator.code(&world))
        .await
        .tells(Message::OtpVerified);
    verify(&step, &authenticator.code_in(&world, 1))
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn a_step_that_is_over_is_told_before_what_is_wrong_with_the_body() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let step = arriving(&world, &member).await;
    verify(&step, &authenticator.code(&world))
        .await
        .tells(Message::OtpVerified);
    for body in [json!({}), json!({ "code": "000000" }), json!({ "code": 5 })] {
        step.post("/otp/verify", body)
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
}

#[tokio::test]
async fn a_recovery_code_works_once_however_it_is_typed_and_the_owner_is_told() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let code = authenticator.recovery_codes[3]
        .to_lowercase()
        .replace('-', " ");
    let wish = json!({ "recoveryCode": code });
    arriving(&world, &member)
        .await
        .post("/otp/verify", wish.clone())
        .await
        .tells(Message::OtpVerified);
    arriving(&world, &member)
        .await
        .post("/otp/verify", wish)
        .await
        .refuses(ErrorCode::OtpInvalid);
    let mails = world.mails(member.user().email.as_str()).await;
    assert!(
        mails
            .iter()
            .any(|mail| mail["subject"].as_str().unwrap().contains("secours")),
        "{mails:?}"
    );
}

#[tokio::test]
async fn bad_codes_are_400_and_missing_ones_named() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let step = arriving(&world, &member).await;
    step.post("/otp/verify", json!({}))
        .await
        .refuses_field("code", ErrorCode::FieldRequired);
    step.post("/otp/verify", json!({ "code": 123456 }))
        .await
        .refuses_field("code", ErrorCode::FieldType);
    for code in ["12345", "abcdef", "12\n34", &"1".repeat(129)] {
        verify(&step, code).await.refuses(ErrorCode::OtpInvalid);
    }
    verify(&step, &authenticator.code_in(&world, 3))
        .await
        .refuses(ErrorCode::OtpInvalid);
    step.post(
        "/otp/verify",
        json!({ "recoveryCode": "ABCDE-FGHJK-MNPQR" }),
    )
    .await
    .refuses(ErrorCode::OtpInvalid);
    verify(&world.member().await, "123456")
        .await
        .refuses(ErrorCode::OtpInvalid);
    verify(&world.stranger(), "123456")
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn five_wrong_codes_end_a_step_ten_the_account_and_recovery_codes_still_work() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let (member, authenticator) = enrolled(&world).await;
    for _ in 0..2 {
        let step = arriving(&world, &member).await;
        for _ in 0..5 {
            verify(&step, "abcdef").await.refuses(ErrorCode::OtpInvalid);
        }
        verify(&step, &authenticator.code(&world))
            .await
            .refuses(ErrorCode::TooManyAttempts);
    }
    let step = arriving(&world, &member).await;
    let refused = verify(&step, &authenticator.code(&world)).await;
    refused.refuses(ErrorCode::TooManyAttempts);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() <= 3600);
    member.get("/auth/check").await.shows();
    step.post(
        "/otp/verify",
        json!({ "recoveryCode": authenticator.recovery_codes[0] }),
    )
    .await
    .tells(Message::OtpVerified);
    world.clock().advance(Duration::from_secs(3600));
    verify(
        &arriving(&world, &member).await,
        &authenticator.code(&world),
    )
    .await
    .tells(Message::OtpVerified);
}

#[tokio::test]
async fn five_wrong_codes_kill_a_secret_that_is_being_tried_out() {
    let world = World::new().await;
    let member = world.member().await;
    let first = member.get("/otp/generate").await.json()["otpAscii"]
        .as_str()
        .unwrap()
        .to_owned();
    for _ in 0..5 {
        verify(&member, "abcdef")
            .await
            .refuses(ErrorCode::OtpInvalid);
    }
    verify(&member, &Authenticator::with(&first).code(&world))
        .await
        .refuses(ErrorCode::OtpInvalid);
    let second = member.get("/otp/generate").await.json()["otpAscii"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_ne!(first, second);
    verify(&member, &Authenticator::with(&second).code(&world))
        .await
        .tells(Message::OtpVerified);
}

#[tokio::test]
async fn a_step_ends_with_its_five_minutes_with_the_account_and_with_the_password() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let late = arriving(&world, &member).await;
    world.clock().advance(Duration::from_secs(300));
    verify(&late, &authenticator.code(&world))
        .await
        .refuses(ErrorCode::BadAuthCombination);

    let step = arriving(&world, &member).await;
    let change = json!({ "oldPassword": PASSWORD, "newPassword": "trois chats sur un mur", "confirmPassword": "trois chats sur un mur" });
    member
        .put("/users/reset-password", change)
        .await
        .tells(Message::PasswordChanged);
    verify(&step, &authenticator.code(&world))
        .await
        .refuses(ErrorCode::BadAuthCombination);

    let answer = world
        .stranger()
        .login(member.user().email.as_str(), "trois chats sur un mur")
        .await;
    let step = world.stranger().holding(
        answer.tells(Message::OtpRequired)["token"]
            .as_str()
            .unwrap(),
    );
    let path = format!("/users/user-status/{}", member.user().user_id);
    let admin = world.admin().await;
    for is_active in [false, true] {
        admin
            .put(&path, json!({ "isActive": is_active }))
            .await
            .tells(Message::UserStatusUpdated);
        verify(&step, &authenticator.code(&world))
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
}

#[tokio::test]
async fn a_token_is_good_for_its_own_step_alone() {
    let world = World::new().await;
    let (member, authenticator) = enrolled(&world).await;
    let step = arriving(&world, &member).await;
    for path in ["/auth/check", "/otp/generate", "/users/activity"] {
        step.get(path).await.refuses(ErrorCode::BadAuthCombination);
    }
    let asked = world
        .stranger()
        .post(
            "/auth/passwordless",
            json!({ "email": member.user().email }),
        )
        .await;
    let pending = world
        .stranger()
        .holding(asked.json()["token"].as_str().unwrap());
    verify(&pending, &authenticator.code(&world))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    let code = world.mailed_code(member.user().email.as_str()).await;
    step.get(&format!("/auth/passwordless?code={code}"))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    verify(&step, &authenticator.code(&world))
        .await
        .tells(Message::OtpVerified);
}
