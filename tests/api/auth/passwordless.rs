use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use http::Method;
use local::faults::{Fault, Mode};
use serde_json::{Value, json};
use tests::{Answer, Authenticator, Person, Someone, World};

async fn ask(person: &Person, email: &str) -> Answer {
    person
        .post("/auth/passwordless", json!({ "email": email }))
        .await
}

/// The person with the token that the six digits go with.
async fn pending(world: &World, email: &str) -> Person {
    let asked = ask(&world.stranger(), email)
        .await
        .tells(Message::PasswordlessSent);
    world.stranger().holding(asked["token"].as_str().unwrap())
}

async fn sign_in(person: &Person, code: &str) -> Answer {
    person.get(&format!("/auth/passwordless?code={code}")).await
}

#[tokio::test]
async fn the_six_digits_sign_in_with_their_token_and_once() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    let without_token = sign_in(&world.stranger(), &code).await;
    without_token.refuses(ErrorCode::BadAuthCombination);
    assert_eq!(
        without_token.header("www-authenticate"),
        "Bearer realm=\"halqa\""
    );
    let answer = sign_in(&person, &code).await;
    let view = answer.tells(Message::LoginSuccess);
    assert_eq!(
        (
            view["user"].as_object().unwrap().len(),
            answer.header("authorization")
        ),
        (25, view["user"]["token"].as_str().unwrap())
    );
    sign_in(&person, &code)
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn the_link_signs_in_on_any_device_and_ends_the_digits_too() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let (code, link) = (
        world.mailed_code("admin@example.org").await,
        world.mailed_link("admin@example.org").await,
    );
    sign_in(&world.stranger(), &link)
        .await
        .tells(Message::LoginSuccess);
    sign_in(&world.stranger(), &link)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    sign_in(&person, &code)
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn what_is_missing_or_malformed_is_401() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    for query in [
        "",
        "?code=",
        "?code=12345",
        "?code=abcdef",
        "?code=%00",
        "?other=1",
    ] {
        person
            .get(&format!("/auth/passwordless{query}"))
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
    let long = "a".repeat(500);
    sign_in(&person, &long)
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn robots_that_look_ahead_spend_nothing() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    let path = format!("/api/v1/auth/passwordless?code={link}");
    assert_eq!(
        person.send(Method::HEAD, &path, "".into()).await.status,
        405
    );
    person
        .with("sec-purpose", "prefetch")
        .get(&format!("/auth/passwordless?code={link}"))
        .await
        .refuses(ErrorCode::PrefetchRefused);
    sign_in(&person.with("if-none-match", "*"), &link)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn of_fifty_at_once_exactly_one_signs_in() {
    let world = World::new().await;
    pending(&world, "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    let people: Vec<_> = (0..50).map(|_| world.stranger()).collect();
    let answers = join_all(people.iter().map(|person| sign_in(person, &link))).await;
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 200).count(),
        1
    );
    assert!(
        answers
            .iter()
            .all(|answer| [200, 401].contains(&answer.status)),
        "{answers:?}"
    );
}

#[tokio::test]
async fn known_and_unknown_addresses_are_told_alike_and_cost_the_same() {
    let world = World::new().await;
    let closed = world
        .account(&Someone::with(Profile::Member).inactive())
        .await;
    for method in ["email", "sms"] {
        let mut answers = Vec::new();
        for email in [
            "admin@example.org",
            "nobody@example.org",
            closed.email.as_str(),
        ] {
            let world = World::new().await;
            answers.push(
                world
                    .stranger()
                    .post(
                        "/auth/passwordless",
                        json!({ "email": email, "sendMethode": method }),
                    )
                    .await,
            );
        }
        let without_token = |answer: &Answer| {
            let mut body = answer.json();
            let token = body["token"].take();
            (
                answer.status,
                body,
                token.as_str().unwrap().len(),
                answer.body.len(),
                answer.cost.round_trips,
                answer.cost.requests,
                answer.cost.writes,
            )
        };
        let expected = without_token(&answers[0]);
        assert!(
            answers
                .iter()
                .all(|answer| without_token(answer) == expected),
            "{answers:?}"
        );
    }
    world
        .stranger()
        .post(
            "/auth/passwordless",
            json!({ "email": "nobody@example.org" }),
        )
        .await;
    ask(&world.stranger(), closed.email.as_str()).await;
    world.deliver().await;
    assert_eq!(
        world.cloud().recorder().mails().len(),
        0,
        "nobody is written to"
    );
}

#[tokio::test]
async fn bad_input_is_named() {
    let world = World::new().await;
    let stranger = world.stranger();
    for (body, field, refusal) in [
        (json!({}), "email", ErrorCode::FieldRequired),
        (
            json!({ "email": "nobody" }),
            "email",
            ErrorCode::EmailInvalid,
        ),
        (
            json!({ "email": "a@example.org", "sendMethode": "fax" }),
            "sendMethode",
            ErrorCode::SendMethodInvalid,
        ),
        (
            json!({ "email": "a@example.org", "sendMethode": 1 }),
            "sendMethode",
            ErrorCode::FieldType,
        ),
    ] {
        stranger
            .post("/auth/passwordless", body)
            .await
            .refuses_field(field, refusal);
    }
}

#[tokio::test]
async fn a_text_message_goes_to_a_number_that_was_proved_and_else_a_mail() {
    let world = World::new().await;
    let reached = world
        .account(&Someone::with(Profile::Member).reached_at("216", "20123456"))
        .await;
    let unproved = world.account(&Someone::with(Profile::Member)).await;
    for user in [&reached, &unproved] {
        world
            .stranger()
            .post(
                "/auth/passwordless",
                json!({ "email": user.email, "sendMethode": "sms" }),
            )
            .await
            .tells(Message::PasswordlessSent);
    }
    assert_eq!(world.texted_code("+21620123456").await.len(), 6);
    assert_eq!(world.mails(reached.email.as_str()).await.len(), 0);
    assert_eq!(world.mailed_code(unproved.email.as_str()).await.len(), 6);
}

#[tokio::test]
async fn a_mailed_code_verifies_the_account_and_a_texted_one_does_not() {
    let world = World::new().await;
    let unverified = Someone::with(Profile::Member).unverified();
    let mailed = world.account(&unverified).await;
    pending(&world, mailed.email.as_str()).await;
    let view = sign_in(
        &world.stranger(),
        &world.mailed_link(mailed.email.as_str()).await,
    )
    .await
    .tells(Message::LoginSuccess);
    assert_eq!(view["user"]["isVerified"], true);
    assert!(world.user(mailed.user_id).await.is_verified);

    let texted = world
        .account(&unverified.reached_at("216", "20123456"))
        .await;
    let asked = world
        .stranger()
        .post(
            "/auth/passwordless",
            json!({ "email": texted.email, "sendMethode": "sms" }),
        )
        .await;
    let person = world
        .stranger()
        .holding(asked.json()["token"].as_str().unwrap());
    sign_in(&person, &world.texted_code("+21620123456").await)
        .await
        .tells(Message::LoginSuccess);
    assert!(!world.user(texted.user_id).await.is_verified);
}

#[tokio::test]
async fn where_administrators_approve_a_mailbox_verifies_nobody() {
    let world = World::with(&[("REGISTRATION", "approval")]).await;
    let user = world
        .account(&Someone::with(Profile::Member).unverified())
        .await;
    pending(&world, user.email.as_str()).await;
    sign_in(
        &world.stranger(),
        &world.mailed_link(user.email.as_str()).await,
    )
    .await
    .tells(Message::LoginSuccess);
    assert!(!world.user(user.user_id).await.is_verified);
}

#[tokio::test]
async fn the_one_time_password_is_still_asked() {
    let world = World::new().await;
    let member = world.member().await;
    let authenticator = Authenticator::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    let email = member.user().email.as_str();
    pending(&world, email).await;
    let answer = sign_in(&world.stranger(), &world.mailed_link(email).await).await;
    let step = answer.tells(Message::OtpRequired);
    assert_eq!(
        (answer.header("authorization"), &step["user"]),
        ("", &Value::Null)
    );
    let person = world.stranger().holding(step["token"].as_str().unwrap());
    person
        .get("/auth/check")
        .await
        .refuses(ErrorCode::BadAuthCombination);
    person
        .post("/otp/verify", json!({ "code": authenticator.code(&world) }))
        .await
        .tells(Message::OtpVerified);
}

#[tokio::test]
async fn five_wrong_tries_kill_the_code_for_their_network_and_the_owner_elsewhere_gets_in() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    for _ in 0..5 {
        sign_in(&person, wrong)
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
    sign_in(&person, &code)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    sign_in(&person.at("10.9.9.9"), &code)
        .await
        .tells(Message::LoginSuccess);
}

#[tokio::test]
async fn twenty_wrong_tries_kill_the_code_for_all() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    for number in 0..20 {
        sign_in(&person.at(&format!("10.9.0.{}", number / 4)), wrong)
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
    sign_in(&person.at("10.9.9.9"), &code)
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn guessing_goes_on_for_thirty_tries_per_network_whoever_is_guessed_at() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let person = pending(&world, "nobody@example.org").await;
    for _ in 0..30 {
        sign_in(&person, "000000")
            .await
            .refuses(ErrorCode::BadAuthCombination);
    }
    let refused = sign_in(&person, "000000").await;
    refused.refuses(ErrorCode::TooManyAttempts);
    assert!((3500..=3600).contains(&refused.header("retry-after").parse::<u64>().unwrap()));
}

#[tokio::test]
async fn a_code_ends_after_ten_minutes_or_when_a_new_one_is_sent() {
    let world = World::new().await;
    let first = pending(&world, "admin@example.org").await;
    let old = world.mailed_link("admin@example.org").await;
    world.clock().advance(Duration::from_secs(60));
    pending(&world, "admin@example.org").await;
    let new = world.mailed_link("admin@example.org").await;
    sign_in(&first, &old)
        .await
        .refuses(ErrorCode::BadAuthCombination);
    world.clock().advance(Duration::from_secs(600));
    sign_in(&first, &new)
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn beyond_the_limits_nothing_is_sent_and_the_earlier_code_stays_good() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    pending(&world, "admin@example.org").await;
    assert_eq!(
        world.mails("admin@example.org").await.len(),
        1,
        "one a minute"
    );
    sign_in(&person, &link).await.tells(Message::LoginSuccess);
    for minutes in 1..=4 {
        world.clock().advance(Duration::from_secs(60));
        pending(&world, "admin@example.org").await;
        let codes = world
            .mails("admin@example.org")
            .await
            .into_iter()
            .filter(|mail| mail["text"].as_str().unwrap().contains("#code="))
            .count();
        assert_eq!(codes, 3.min(minutes + 1), "three in a quarter of an hour");
    }
}

#[tokio::test]
async fn an_account_that_is_closed_meanwhile_does_not_get_in() {
    let world = World::new().await;
    let member = world.member().await;
    pending(&world, member.user().email.as_str()).await;
    let link = world.mailed_link(member.user().email.as_str()).await;
    let path = format!("/users/user-status/{}", member.user().user_id);
    world
        .admin()
        .await
        .put(&path, json!({ "isActive": false }))
        .await
        .tells(Message::UserStatusUpdated);
    sign_in(&world.stranger(), &link)
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn whoever_hears_503_may_ask_again_at_once() {
    let world = World::new().await;
    world.strike(Fault::new(Mode::Refuse).on("TransactWriteItems"));
    ask(&world.stranger(), "admin@example.org")
        .await
        .refuses(ErrorCode::Unavailable);
    world.heal();
    ask(&world.stranger(), "admin@example.org")
        .await
        .tells(Message::PasswordlessSent);
    assert_eq!(world.mails("admin@example.org").await.len(), 1);
}

#[tokio::test]
async fn without_a_number_that_was_proved_text_messages_bound_nothing() {
    let world = World::with(&[("MESSAGE_INTERVAL_SECONDS", "1")]).await;
    let user = world.account(&Someone::with(Profile::Member)).await;
    for _ in 0..3 {
        world.clock().advance(Duration::from_secs(1));
        let wish = json!({ "email": user.email, "sendMethode": "sms" });
        world
            .stranger()
            .post("/auth/passwordless", wish)
            .await
            .tells(Message::PasswordlessSent);
        world
            .stranger()
            .get(&format!(
                "/users/reset-password?sendMethode=sms&email={}",
                user.email
            ))
            .await
            .tells(Message::ResetCodeSent);
    }
    assert_eq!(world.mails(user.email.as_str()).await.len(), 6);
}

#[tokio::test]
async fn an_account_that_is_closed_meanwhile_gets_no_message() {
    let world = World::new().await;
    let member = world.member().await;
    ask(&world.stranger(), member.user().email.as_str())
        .await
        .tells(Message::PasswordlessSent);
    let path = format!("/users/user-status/{}", member.user().user_id);
    world
        .admin()
        .await
        .put(&path, json!({ "isActive": false }))
        .await
        .tells(Message::UserStatusUpdated);
    assert_eq!(world.mails(member.user().email.as_str()).await.len(), 0);
}
