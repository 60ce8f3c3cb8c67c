//! `GET` and `POST /users/reset-password`; `PUT` is in `reset_password.rs`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Answer, Authenticator, PASSWORD, Person, Someone, World};

const NEW: &str = "cinq cigognes au nord";

async fn ask(person: &Person, method: &str, email: &str) -> Answer {
    person
        .get(&format!(
            "/users/reset-password?sendMethode={method}&email={email}"
        ))
        .await
}

fn wish(email: &str, code: &str) -> Value {
    json!({ "email": email, "code": code, "newPassword": NEW, "confirmPassword": NEW })
}

async fn reset(person: &Person, wish: Value) -> Answer {
    person.post("/users/reset-password", wish).await
}

#[tokio::test]
async fn the_digits_or_the_link_set_a_new_password_once_and_every_session_ends() {
    for by_link in [false, true] {
        let world = World::new().await;
        let member = world.member().await;
        let email = member.user().email.as_str();
        ask(&world.stranger(), "email", email)
            .await
            .tells(Message::ResetCodeSent);
        let code = if by_link {
            world.mailed_link(email).await
        } else {
            world.mailed_code(email).await
        };
        reset(&world.stranger(), wish(email, &code))
            .await
            .tells(Message::PasswordChanged);
        reset(&world.stranger(), wish(email, &code))
            .await
            .refuses(ErrorCode::ResetCodeInvalid);
        member
            .get("/auth/check")
            .await
            .refuses(ErrorCode::BadAuthCombination);
        world
            .stranger()
            .login(email, PASSWORD)
            .await
            .refuses(ErrorCode::BadAuthCombination);
        world
            .stranger()
            .login(email, NEW)
            .await
            .tells(Message::LoginSuccess);
        assert_eq!(world.mails(email).await.len(), 2, "the code, and the news");
    }
}

#[tokio::test]
async fn a_number_that_was_proved_gets_the_code_and_the_mailbox_is_not_proved_by_it() {
    let world = World::new().await;
    let user = world
        .account(
            &Someone::with(Profile::Member)
                .unverified()
                .reached_at("216", "20123456"),
        )
        .await;
    ask(&world.stranger(), "sms", user.email.as_str())
        .await
        .tells(Message::ResetCodeSent);
    let code = world.texted_code("+21620123456").await;
    reset(&world.stranger(), wish(user.email.as_str(), &code))
        .await
        .tells(Message::PasswordChanged);
    assert!(!world.user(user.user_id).await.is_verified);
}

#[tokio::test]
async fn a_mailed_code_proves_the_mailbox() {
    let world = World::new().await;
    let user = world
        .account(&Someone::with(Profile::Member).unverified())
        .await;
    ask(&world.stranger(), "email", user.email.as_str())
        .await
        .tells(Message::ResetCodeSent);
    let code = world.mailed_code(user.email.as_str()).await;
    reset(&world.stranger(), wish(user.email.as_str(), &code))
        .await
        .tells(Message::PasswordChanged);
    assert!(world.user(user.user_id).await.is_verified);
}

#[tokio::test]
async fn known_and_unknown_addresses_are_told_alike_to_the_byte_and_cost_the_same() {
    for method in ["email", "sms"] {
        let mut answers = Vec::new();
        for email in ["admin@example.org", "nobody@example.org"] {
            let world = World::new().await;
            answers.push((
                ask(&world.stranger(), method, email).await,
                reset(&world.stranger(), wish(email, "000000")).await,
            ));
        }
        let told = |answer: &Answer| {
            (
                answer.status,
                answer.body.clone(),
                answer.cost.round_trips,
                answer.cost.requests,
                answer.cost.writes,
            )
        };
        assert_eq!(told(&answers[0].0), told(&answers[1].0));
        assert_eq!(told(&answers[0].1), told(&answers[1].1));
    }
}

#[tokio::test]
async fn of_fifty_at_once_exactly_one_wins() {
    let world = World::new().await;
    ask(&world.stranger(), "email", "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    let people: Vec<_> = (0..50).map(|_| world.stranger()).collect();
    let answers = join_all(
        people
            .iter()
            .map(|person| reset(person, wish("admin@example.org", &link))),
    )
    .await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 200).count(),
        1
    );
    assert!(
        answers
            .iter()
            .all(|answer| answer.status == 200
                || answer.code() == ErrorCode::ResetCodeInvalid.code()),
        "{answers:?}"
    );
}

#[tokio::test]
async fn fields_come_first_then_the_code_then_the_rules_which_do_not_spend_it() {
    let world = World::new().await;
    let stranger = world.stranger();
    ask(&stranger, "email", "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    reset(&stranger, json!({}))
        .await
        .refuses(ErrorCode::Validation);
    let but = |field: &str, value: &str| {
        let mut wish = wish("admin@example.org", &code);
        wish[field] = json!(value);
        wish
    };
    reset(&stranger, but("code", "999"))
        .await
        .refuses(ErrorCode::ResetCodeInvalid);
    reset(&stranger, but("newPassword", "court"))
        .await
        .refuses(ErrorCode::Validation);
    reset(&stranger, but("confirmPassword", "autre chose encore"))
        .await
        .refuses_field("confirmPassword", ErrorCode::PasswordMismatch);
    let weak = json!({ "email": "admin@example.org", "code": code, "newPassword": "onze lettre", "confirmPassword": "onze lettre" });
    reset(&stranger, weak)
        .await
        .refuses_field("newPassword", ErrorCode::PasswordTooShort);
    reset(&stranger, wish("admin@example.org", &code))
        .await
        .tells(Message::PasswordChanged);
}

#[tokio::test]
async fn a_code_is_good_for_its_own_address_and_purpose() {
    let world = World::new().await;
    let other = world.account(&Someone::with(Profile::Member)).await;
    ask(&world.stranger(), "email", "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    reset(&world.stranger(), wish(other.email.as_str(), &link))
        .await
        .refuses(ErrorCode::ResetCodeInvalid);
    world
        .stranger()
        .get(&format!("/auth/passwordless?code={link}"))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    let verify = json!({ "email": "admin@example.org", "code": link });
    world
        .stranger()
        .put("/users/email-verification", verify)
        .await
        .refuses(ErrorCode::VerificationInvalid);
    reset(&world.stranger(), wish("admin@example.org", &link))
        .await
        .tells(Message::PasswordChanged);
}

#[tokio::test]
async fn the_one_time_password_stays_required() {
    let world = World::new().await;
    let member = world.member().await;
    Authenticator::enrolled_by(&world, &member).await;
    let email = member.user().email.as_str();
    ask(&world.stranger(), "email", email).await;
    let code = world.mailed_code(email).await;
    reset(&world.stranger(), wish(email, &code))
        .await
        .tells(Message::PasswordChanged);
    world
        .stranger()
        .login(email, NEW)
        .await
        .tells(Message::OtpRequired);
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let world = World::new().await;
    let stranger = world.stranger();
    for (query, field, refusal) in [
        (
            "?email=a@example.org",
            "sendMethode",
            ErrorCode::FieldRequired,
        ),
        (
            "?email=a@example.org&sendMethode=",
            "sendMethode",
            ErrorCode::FieldRequired,
        ),
        (
            "?email=a@example.org&sendMethode=fax",
            "sendMethode",
            ErrorCode::SendMethodInvalid,
        ),
        ("?email=a&sendMethode=sms", "email", ErrorCode::EmailInvalid),
        ("?sendMethode=sms", "email", ErrorCode::FieldRequired),
    ] {
        stranger
            .get(&format!("/users/reset-password{query}"))
            .await
            .refuses_field(field, refusal);
    }
    stranger
        .get("/users/reset-password")
        .await
        .refuses(ErrorCode::Validation);
}

#[tokio::test]
async fn a_closed_account_gets_no_code_and_cannot_finish_with_one() {
    let world = World::new().await;
    let member = world.member().await;
    let email = member.user().email.as_str();
    ask(&world.stranger(), "email", email).await;
    let code = world.mailed_code(email).await;
    let path = format!("/users/user-status/{}", member.user().user_id);
    world
        .admin()
        .await
        .put(&path, json!({ "isActive": false }))
        .await
        .tells(Message::UserStatusUpdated);
    reset(&world.stranger(), wish(email, &code))
        .await
        .refuses(ErrorCode::ResetCodeInvalid);
    world.clock().advance(Duration::from_secs(61));
    ask(&world.stranger(), "email", email)
        .await
        .tells(Message::ResetCodeSent);
    assert_eq!(world.mails(email).await.len(), 1);
}

/// Somebody at the owner's open session asks for an address of his own, and confirms it after the owner threw him out.
#[tokio::test]
async fn an_address_that_a_thief_asked_for_does_not_come_into_force_after_the_reset() {
    let world = World::new().await;
    let member = world.member().await;
    let email = member.user().email.as_str();
    let own = format!("/users/{}", member.user().user_id);
    member
        .put(&own, json!({ "email": "voleur@example.org" }))
        .await
        .tells(Message::UserUpdated);
    let proof = json!({ "email": "voleur@example.org", "code": world.mailed_code("voleur@example.org").await });
    ask(&world.stranger(), "email", email)
        .await
        .tells(Message::ResetCodeSent);
    let code = world.mailed_code(email).await;
    reset(&world.stranger(), wish(email, &code))
        .await
        .tells(Message::PasswordChanged);
    world
        .stranger()
        .put("/users/email-verification", proof)
        .await
        .refuses(ErrorCode::VerificationInvalid);
    world
        .stranger()
        .login(email, NEW)
        .await
        .tells(Message::LoginSuccess);
}

/// Whoever registers with somebody's address and a number of his own keeps no way in when its owner comes.
#[tokio::test]
async fn a_number_that_was_proved_before_the_mailbox_gets_no_codes_after_the_reset() {
    let world = World::new().await;
    let user = world
        .account(
            &Someone::with(Profile::Member)
                .unverified()
                .reached_at("216", "20123456"),
        )
        .await;
    ask(&world.stranger(), "email", user.email.as_str())
        .await
        .tells(Message::ResetCodeSent);
    let code = world.mailed_code(user.email.as_str()).await;
    reset(&world.stranger(), wish(user.email.as_str(), &code))
        .await
        .tells(Message::PasswordChanged);
    let asked = json!({ "email": user.email, "sendMethode": "sms" });
    world
        .stranger()
        .post("/auth/passwordless", asked)
        .await
        .tells(Message::PasswordlessSent);
    assert_eq!(world.texts("+21620123456").await.len(), 0);
    assert_eq!(
        world.mails(user.email.as_str()).await.len(),
        3,
        "the code, the news, and the code to sign in with"
    );
}
