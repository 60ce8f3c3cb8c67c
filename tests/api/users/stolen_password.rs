//! Attacks by somebody who knows the password of an account, and what its owner can do against them.

use std::time::Duration;

use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{Answer, NewPerson, PASSWORD, Person, TotpApp, World};

const NEW: &str = "le phare de Kelibia";

/// A member whose number, `+21620123456`, is verified.
async fn member_with_number(world: &World) -> Person {
    let member = NewPerson::with(Profile::Member).with_phone("216", "20123456");
    world.person(member).await
}

/// Resets the password with the code of a mail.
async fn reset(world: &World, email: &str) -> Answer {
    let anonymous = world.anonymous();
    anonymous.ask_to_reset(email, "email").await;
    let code = world.mailed_link(email).await;
    let payload =
        json!({ "email": email, "code": code, "newPassword": NEW, "confirmPassword": NEW });
    anonymous.post("/users/reset-password", payload).await
}

#[tokio::test]
async fn number_gets_no_codes_after_reset_by_mail_or_deactivation() {
    for is_reset in [true, false] {
        let world = World::new().await;
        let member = member_with_number(&world).await;
        let user = member.user();
        let email = user.email.as_str();
        world.anonymous().ask_to_sign_in(email, "sms").await;
        assert_eq!(world.texts("+21620123456").await.len(), 1);
        if is_reset {
            reset(&world, email).await.expect_success(Message::PasswordChanged);
        } else {
            let admin = world.admin().await;
            for is_active in [false, true] {
                admin.set_active(user.user_id, is_active).await;
            }
        }
        world.clock().advance(Duration::from_secs(60));
        let mails = world.mails(email).await.len();
        world.anonymous().ask_to_sign_in(email, "sms").await;
        assert_eq!(world.texts("+21620123456").await.len(), 1);
        assert_eq!(world.mails(email).await.len(), mails + 1);
    }
}

/// The answer to `request`, whose transaction waits until the password of the account was reset.
async fn answer_after_reset(
    world: &World,
    email: &str,
    request: impl Future<Output = Answer>,
) -> Answer {
    world.inject_fault(Fault {
        delay_ms: Some(2_500),
        ..Fault::new(Mode::Slow).on("TransactWriteItems").times(1)
    });
    let resetting = async {
        world.faults_have_occurred().await;
        reset(world, email).await.expect_success(Message::PasswordChanged);
    };
    tokio::join!(request, resetting).0
}

#[tokio::test]
async fn change_of_address_under_way_fails_after_the_reset() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let wish = member.request_address("voleur@example.org");
    answer_after_reset(&world, email, wish).await.expect_unauthorized();
    assert!(world.mails("voleur@example.org").await.is_empty());
}

#[tokio::test]
async fn erasure_under_way_fails_after_the_reset() {
    let (world, member) = World::with_member().await;
    let path = format!("/users/{}", member.user().user_id);
    let email = member.user().email.as_str();
    let erasing = member.delete_with(&path, json!({ "password": PASSWORD }));
    answer_after_reset(&world, email, erasing).await.expect_unauthorized();
    world.anonymous().sign_in(email, NEW).await;
}

#[tokio::test]
async fn code_texted_to_a_former_number_is_invalid() {
    let world = World::new().await;
    let member = member_with_number(&world).await;
    let email = member.user().email.to_string();
    let anonymous = world.anonymous();
    let token = anonymous.ask_to_sign_in(&email, "sms").await["token"].clone();
    let sign_in = world.texted_code("+21620123456").await;
    anonymous.ask_to_reset(&email, "sms").await;
    let reset = world.texted_code("+21620123456").await;
    // Setting it again does not verify it.
    for phone in ["20123457", "20123456"] {
        member.set_number(phone).await;
    }
    let signed_in = anonymous
        .with_token(token.as_str().unwrap())
        .get(&format!("/auth/passwordless?code={sign_in}"))
        .await;
    signed_in.expect_unauthorized();
    let body = json!({ "email": email, "code": reset, "newPassword": NEW, "confirmPassword": NEW });
    anonymous.post("/users/reset-password", body).await.expect_error(ErrorCode::ResetCodeInvalid);
}

#[tokio::test]
async fn enrolments_end_codes_ten_times_an_hour_at_most() {
    let (world, member) = World::with_member().await;
    let mut app = TotpApp::enrolled_by(&world, &member).await;
    for _ in 0..9 {
        world.clock().advance(Duration::from_secs(30));
        app = app.replaced_by(&world, &member).await;
    }
    world.clock().advance(Duration::from_secs(30));
    let new = TotpApp::pending_of(&member).await;
    let body = json!({ "code": new.code(&world), "currentCode": app.code(&world) });
    let refused = member.post("/otp/verify", body).await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    reset(&world, member.user().email.as_str()).await.expect_success(Message::PasswordChanged);
}

#[tokio::test]
async fn password_changes_ten_times_an_hour_at_most() {
    let (world, member) = World::with_member().await;
    let mut old = PASSWORD.to_owned();
    for number in 0..11 {
        let new = format!("le phare de Kelibia {number}");
        let answer = member.change_password(&old, &new).await;
        if number < 10 {
            answer.expect_success(Message::PasswordChanged);
            old = new;
        } else {
            answer.expect_error(ErrorCode::TooManyAttempts);
        }
    }
    reset(&world, member.user().email.as_str()).await.expect_success(Message::PasswordChanged);
}
