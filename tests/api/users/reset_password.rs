//! `GET` and `POST /users/reset-password`; `PUT` is tested in `change_password.rs`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{
    Profile,
    code::{CodeId, CodeKind},
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Answer, NewPerson, PASSWORD, Person, TotpApp, World, until_answered};

const NEW: &str = "cinq cigognes au nord";

async fn ask(person: &Person, method: &str, email: &str) -> Answer {
    person.get(&format!("/users/reset-password?sendMethode={method}&email={email}")).await
}

fn payload(email: &str, code: &str) -> Value {
    json!({ "email": email, "code": code, "newPassword": NEW, "confirmPassword": NEW })
}

async fn reset(person: &Person, payload: Value) -> Answer {
    person.post("/users/reset-password", payload).await
}

#[tokio::test]
async fn code_or_link_sets_new_password_once_and_ends_all_sessions() {
    for by_link in [false, true] {
        let world = World::new().await;
        let member = world.member().await;
        let email = member.user().email.as_str();
        ask(&world.anonymous(), "email", email).await.expect_success(Message::ResetCodeSent);
        let code =
            if by_link { world.mailed_link(email).await } else { world.mailed_code(email).await };
        reset(&world.anonymous(), payload(email, &code)).await.expect_ok();
        let answer = reset(&world.anonymous(), payload(email, &code)).await;
        answer.expect_error(ErrorCode::ResetCodeInvalid);
        member.get("/auth/check").await.expect_unauthorized();
        world.anonymous().login(email, PASSWORD).await.expect_unauthorized();
        world.anonymous().sign_in(email, NEW).await;
        let mails = world.mails(email).await.len();
        assert_eq!(
            mails, 3,
            "the code, the new password, and the sign-in from a device that is new again"
        );
    }
}

#[tokio::test]
async fn code_by_sms_does_not_verify_the_mailbox() {
    let world = World::new().await;
    let user = world
        .account(&NewPerson::with(Profile::Member).unverified().with_phone("216", "20123456"))
        .await;
    ask(&world.anonymous(), "sms", user.email.as_str()).await.expect_ok();
    let code = world.texted_code("+21620123456").await;
    reset(&world.anonymous(), payload(user.email.as_str(), &code)).await.expect_ok();
    assert!(!world.user(user.user_id).await.is_verified);
}

#[tokio::test]
async fn mailed_code_verifies_the_mailbox() {
    let world = World::new().await;
    let user = world.account(&NewPerson::with(Profile::Member).unverified()).await;
    ask(&world.anonymous(), "email", user.email.as_str()).await.expect_ok();
    let code = world.mailed_code(user.email.as_str()).await;
    reset(&world.anonymous(), payload(user.email.as_str(), &code)).await.expect_ok();
    assert!(world.user(user.user_id).await.is_verified);
}

#[tokio::test]
async fn known_and_unknown_addresses_same_bytes_and_cost() {
    for method in ["email", "sms"] {
        let mut observed = Vec::new();
        for is_known in [true, false] {
            let world = World::new().await;
            let known = NewPerson::with(Profile::Member).with_phone("216", "20123456");
            let known = world.account(&known).await.email.clone();
            let email = if is_known { known.as_str() } else { "unknown@example.org" };
            let mut answers = Vec::new();
            // The second request is beyond the limit of a minute, the last ones beyond that of text messages a day.
            for minutes in [0, 0, 16, 16, 16, 16, 16, 16] {
                world.clock().advance(Duration::from_secs(minutes * 60));
                answers.push(ask(&world.anonymous(), method, email).await);
            }
            for _ in 0..7 {
                answers.push(reset(&world.anonymous(), payload(email, "000000")).await);
            }
            observed.push(answers.iter().map(seen_by_a_client).collect::<Vec<_>>());
        }
        assert_eq!(observed[0], observed[1], "by {method}");
    }
}

/// What a client sees of an answer, and what determines its time.
fn seen_by_a_client(answer: &Answer) -> impl PartialEq + std::fmt::Debug + use<> {
    let cost = answer.cost;
    ((answer.status, answer.body.clone()), (cost.round_trips, cost.requests, cost.writes))
}

#[tokio::test]
async fn code_used_fifty_times_at_once_resets_once() {
    let world = World::new().await;
    ask(&world.anonymous(), "email", "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    let people: Vec<_> = (0..50).map(|_| world.anonymous()).collect();
    let payload = payload("admin@example.org", &link);
    // On a busy machine the time of a request may be over.
    let resets = people.iter().map(|person| until_answered(|| reset(person, payload.clone())));
    let answers = world.race(2, join_all(resets)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert!(
        answers
            .iter()
            .all(|answer| answer.status == 200
                || answer.code() == ErrorCode::ResetCodeInvalid.code()),
        "{answers:?}"
    );
}

/// An attempt that is not counted is not compared.
#[tokio::test]
async fn concurrent_attempts_at_a_code_stay_within_its_limits() {
    let (world, member) = World::with_member().await;
    let email = &member.user().email;
    ask(&world.anonymous(), "email", email.as_str()).await.expect_success(Message::ResetCodeSent);
    let (store, now) = (&world.setup().store, world.clock().now());
    let attempts = async |networks: &[&str]| {
        let tries = networks.iter().cycle().take(30).map(|network| {
            let challenge = accounts::email_challenge(email);
            store.count_attempt(CodeId { kind: CodeKind::Reset, challenge }, network, now)
        });
        let codes = join_all(tries).await.into_iter();
        codes.filter(|code| code.as_ref().unwrap().is_some()).count()
    };
    assert_eq!(attempts(&["one"]).await, 5);
    assert_eq!(attempts(&["one"]).await, 0);
    assert_eq!(attempts(&["a", "b"]).await, 10);
    // Of all networks together.
    let (code, people) =
        (world.mailed_code(email.as_str()).await, [(); 5].map(|()| world.anonymous()));
    let wrong = format!("{}{}", if code.starts_with('0') { "1" } else { "0" }, &code[1..]);
    let tries =
        people.iter().cycle().take(20).map(|person| reset(person, payload(email.as_str(), &wrong)));
    for answer in join_all(tries).await {
        answer.expect_error(ErrorCode::ResetCodeInvalid);
    }
    let answer = reset(&world.anonymous(), payload(email.as_str(), &code)).await;
    answer.expect_error(ErrorCode::ResetCodeInvalid);
}

#[tokio::test]
async fn attempt_with_a_right_code_that_is_not_used_is_not_counted() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    ask(&world.anonymous(), "email", email).await.expect_success(Message::ResetCodeSent);
    let code = world.mailed_code(email).await;
    let mut weak = payload(email, &code);
    weak["newPassword"] = json!("court");
    weak["confirmPassword"] = json!("court");
    for _ in 0..6 {
        reset(&world.anonymous(), weak.clone()).await.expect_error(ErrorCode::PasswordTooShort);
    }
    reset(&world.anonymous(), payload(email, &code)).await.expect_success(Message::PasswordChanged);
}

#[tokio::test]
async fn fields_then_code_then_password_rules_without_using_up_the_code() {
    let world = World::new().await;
    let anonymous = world.anonymous();
    ask(&anonymous, "email", "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    reset(&anonymous, json!({})).await.expect_error(ErrorCode::Validation);
    let but = |field: &str, value: &str| {
        let mut payload = payload("admin@example.org", &code);
        payload[field] = json!(value);
        payload
    };
    reset(&anonymous, but("code", "999")).await.expect_error(ErrorCode::ResetCodeInvalid);
    reset(&anonymous, but("newPassword", "court")).await.expect_error(ErrorCode::Validation);
    let answer = reset(&anonymous, but("confirmPassword", "autre chose encore")).await;
    answer.expect_field_error("confirmPassword", ErrorCode::PasswordMismatch);
    let weak = json!({ "email": "admin@example.org", "code": code, "newPassword": "onze lettre", "confirmPassword": "onze lettre" });
    reset(&anonymous, weak).await.expect_field_error("newPassword", ErrorCode::PasswordTooShort);
    reset(&anonymous, payload("admin@example.org", &code)).await.expect_ok();
}

#[tokio::test]
async fn code_is_valid_for_its_address_and_purpose_only() {
    let world = World::new().await;
    let other = world.account(Profile::Member).await;
    ask(&world.anonymous(), "email", "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    let answer = reset(&world.anonymous(), payload(other.email.as_str(), &link)).await;
    answer.expect_error(ErrorCode::ResetCodeInvalid);
    world.anonymous().get(&format!("/auth/passwordless?code={link}")).await.expect_unauthorized();
    let answer = world.admin().await.verify_email("admin@example.org", &link).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    reset(&world.anonymous(), payload("admin@example.org", &link)).await.expect_ok();
}

#[tokio::test]
async fn otp_stays_required_after_reset() {
    let (world, member) = World::with_member().await;
    TotpApp::enrolled_by(&world, &member).await;
    let email = member.user().email.as_str();
    ask(&world.anonymous(), "email", email).await;
    let code = world.mailed_code(email).await;
    reset(&world.anonymous(), payload(email, &code)).await.expect_success(Message::PasswordChanged);
    world.anonymous().login(email, NEW).await.expect_success(Message::OtpRequired);
}

#[tokio::test]
async fn closed_account_gets_no_code_and_cannot_use_one() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    ask(&world.anonymous(), "email", email).await;
    let code = world.mailed_code(email).await;
    world.admin().await.set_active(member.user().user_id, false).await;
    let answer = reset(&world.anonymous(), payload(email, &code)).await;
    answer.expect_error(ErrorCode::ResetCodeInvalid);
    world.clock().advance(Duration::from_secs(61));
    ask(&world.anonymous(), "email", email).await.expect_success(Message::ResetCodeSent);
    assert_eq!(world.mails(email).await.len(), 2, "the first code, and that the account is closed");
}

/// With a stolen session an attacker requests a new address, and confirms it after the owner reset the password.
#[tokio::test]
async fn pending_address_is_discarded_by_the_reset() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    member.request_address("voleur@example.org").await.expect_ok();
    let proof = json!({ "email": "voleur@example.org", "code": world.mailed_code("voleur@example.org").await });
    ask(&world.anonymous(), "email", email).await.expect_success(Message::ResetCodeSent);
    let code = world.mailed_code(email).await;
    reset(&world.anonymous(), payload(email, &code)).await.expect_success(Message::PasswordChanged);
    let signed_in = world.anonymous().sign_in(email, NEW).await;
    let member = world.anonymous().with_token(signed_in["user"]["token"].as_str().unwrap());
    let answer = member.put("/users/email-verification", proof).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
}
