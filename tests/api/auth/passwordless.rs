use std::time::Duration;

use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tests::{Answer, NewPerson, PASSWORD, Person, TotpApp, World, until_answered};

async fn ask(person: &Person, email: &str) -> Answer {
    person.post("/auth/passwordless", json!({ "email": email })).await
}

/// Requests a code for `email`: a person with the token that the six digits need.
async fn pending(world: &World, email: &str) -> Person {
    let requested = ask(&world.anonymous(), email).await.expect_success(Message::PasswordlessSent);
    world.anonymous().with_token(requested["token"].as_str().unwrap())
}

async fn sign_in(person: &Person, code: &str) -> Answer {
    person.get(&format!("/auth/passwordless?code={code}")).await
}

#[tokio::test]
async fn six_digit_code_with_its_token_signs_in_once() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    let anonymous = world.anonymous();
    let other_scheme = anonymous.with("authorization", "Basic YTpi");
    for without_token in [anonymous, other_scheme] {
        let refused = sign_in(&without_token, &code).await;
        refused.expect_unauthorized();
        assert_eq!(refused.header("www-authenticate"), "Bearer realm=\"halqa\"");
    }
    // Mails and authenticators show digits in groups.
    let typed = format!("{}%20{}", &code[..3], &code[3..]);
    let answer = sign_in(&person, &typed).await;
    let view = answer.expect_success(Message::LoginSuccess);
    assert_eq!(
        (view["user"].as_object().unwrap().len(), answer.header("authorization")),
        (25, view["user"]["token"].as_str().unwrap())
    );
    sign_in(&person, &code).await.expect_unauthorized();
}

#[tokio::test]
async fn link_signs_in_on_any_device_and_invalidates_the_digits() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    sign_in(&world.anonymous(), &link).await.expect_success(Message::LoginSuccess);
    sign_in(&world.anonymous(), &link).await.expect_unauthorized();
    sign_in(&person, &code).await.expect_unauthorized();
}

#[tokio::test]
async fn missing_or_malformed_code_returns_401() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    for query in ["", "?code=", "?code=12345", "?code=abcdef", "?code=%00", "?other=1"] {
        person.get(&format!("/auth/passwordless{query}")).await.expect_unauthorized();
    }
    sign_in(&person, &"a".repeat(500)).await.expect_unauthorized();
}

#[tokio::test]
async fn head_and_prefetch_do_not_use_up_the_code() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    let path = format!("/api/v1/auth/passwordless?code={link}");
    assert_eq!(person.send(Method::HEAD, &path, "".into()).await.status, 405);
    let url = format!("/auth/passwordless?code={link}");
    person.with("sec-purpose", "prefetch").get(&url).await.expect_error(ErrorCode::PrefetchRefused);
    sign_in(&person.with("if-none-match", "*"), &link).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn link_used_fifty_times_at_once_signs_in_once() {
    let world = World::new().await;
    pending(&world, "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    let people: Vec<_> = (0..50).map(|_| world.anonymous()).collect();
    let answers = people.iter().map(|person| until_answered(|| sign_in(person, &link)));
    let answers = world.race(2, join_all(answers)).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    assert!(answers.iter().all(|answer| [200, 401].contains(&answer.status)), "{answers:?}");
}

#[tokio::test]
async fn known_and_unknown_addresses_same_response_and_cost() {
    let known = NewPerson::with(Profile::Member).with_phone("216", "20123456");
    let closed = NewPerson::with(Profile::Member).inactive();
    let without_token = |answer: &Answer| {
        let mut body = answer.json();
        let token = body["token"].take();
        (
            (answer.status, body),
            (token.as_str().unwrap().len(), answer.body.len()),
            answer.cost.round_trips,
            answer.cost.requests,
            answer.cost.writes,
        )
    };
    for method in ["email", "sms"] {
        let mut observed = Vec::new();
        for person in [Some(&known), Some(&closed), None] {
            let world = World::new().await;
            let email = match person {
                Some(person) => world.account(person).await.email.to_string(),
                None => "unknown@example.org".to_owned(),
            };
            let body = json!({ "email": email, "sendMethode": method });
            let mut answers = Vec::new();
            // The second request is beyond the limit of a minute, the last ones beyond that of text messages a day.
            for minutes in [0, 0, 16, 16, 16, 16, 16, 16] {
                world.clock().advance(Duration::from_secs(minutes * 60));
                let client = world.anonymous();
                answers.push(without_token(&client.post("/auth/passwordless", body.clone()).await));
            }
            observed.push(answers);
        }
        assert_eq!(observed[0], observed[1], "closed account, by {method}");
        assert_eq!(observed[0], observed[2], "unknown address, by {method}");
    }
    let world = World::new().await;
    let closed = world.account(&closed).await;
    ask(&world.anonymous(), "unknown@example.org").await;
    ask(&world.anonymous(), closed.email.as_str()).await;
    world.deliver().await;
    assert_eq!(world.cloud().recorder().mails().len(), 0, "no message is sent");
}

#[tokio::test]
async fn code_goes_by_sms_if_phone_is_verified_otherwise_by_mail() {
    let world = World::new().await;
    let reached =
        world.account(&NewPerson::with(Profile::Member).with_phone("216", "20123456")).await;
    let unproved = world.account(Profile::Member).await;
    for user in [&reached, &unproved] {
        world.anonymous().ask_to_sign_in(&user.email, "sms").await;
    }
    assert_eq!(world.texted_code("+21620123456").await.len(), 6);
    assert_eq!(world.mails(reached.email.as_str()).await.len(), 0);
    assert_eq!(world.mailed_code(unproved.email.as_str()).await.len(), 6);
}

#[tokio::test]
async fn mailed_code_verifies_the_account_texted_code_does_not() {
    let world = World::new().await;
    let unverified = NewPerson::with(Profile::Member).unverified();
    let mailed = world.account(&unverified).await;
    pending(&world, mailed.email.as_str()).await;
    let answer = sign_in(&world.anonymous(), &world.mailed_link(mailed.email.as_str()).await).await;
    let view = answer.expect_success(Message::LoginSuccess);
    assert_eq!(view["user"]["isVerified"], true);
    assert!(world.user(mailed.user_id).await.is_verified);

    let texted = world.account(&unverified.with_phone("216", "20123456")).await;
    let requested = world.anonymous().ask_to_sign_in(&texted.email, "sms").await;
    let person = world.anonymous().with_token(requested["token"].as_str().unwrap());
    let answer = sign_in(&person, &world.texted_code("+21620123456").await).await;
    answer.expect_success(Message::LoginSuccess);
    assert!(!world.user(texted.user_id).await.is_verified);
}

#[tokio::test]
async fn code_beside_a_change_of_the_account_can_be_used_afterwards() {
    let world = World::new().await;
    let account = world.account(&NewPerson::with(Profile::Member).unverified()).await;
    let email = account.email.as_str();
    pending(&world, email).await;
    let code = world.mailed_link(email).await;
    let (admin, anonymous) = (world.admin().await, world.anonymous());
    world.inject_fault(Fault {
        delay_ms: Some(500),
        ..Fault::new(Mode::Slow).on("TransactWriteItems").times(1)
    });
    let change = async {
        world.faults_have_occurred().await;
        admin.change_member(account.user_id, json!({ "name": "Aziza" })).await
    };
    let (beside, _) = tokio::join!(sign_in(&anonymous, &code), change);
    beside.expect_error(ErrorCode::Unavailable);
    sign_in(&anonymous, &code).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn approval_mode_mailed_code_does_not_verify_the_account() {
    let world = World::with(&[("REGISTRATION", "approval")]).await;
    let user = world.account(&NewPerson::with(Profile::Member).unverified()).await;
    pending(&world, user.email.as_str()).await;
    let answer = sign_in(&world.anonymous(), &world.mailed_link(user.email.as_str()).await).await;
    answer.expect_success(Message::LoginSuccess);
    assert!(!world.user(user.user_id).await.is_verified);
}

#[tokio::test]
async fn account_with_otp_still_needs_its_otp_code() {
    let (world, member) = World::with_member().await;
    let totp_app = TotpApp::enrolled_by(&world, &member).await;
    world.clock().advance(Duration::from_secs(30));
    let email = member.user().email.as_str();
    pending(&world, email).await;
    let answer = sign_in(&world.anonymous(), &world.mailed_link(email).await).await;
    let step = answer.expect_success(Message::OtpRequired);
    assert_eq!((answer.header("authorization"), &step["user"]), ("", &Value::Null));
    let person = world.anonymous().with_token(step["token"].as_str().unwrap());
    person.get("/auth/check").await.expect_unauthorized();
    person.post("/otp/verify", json!({ "code": totp_app.code(&world) })).await.expect_created();
}

#[tokio::test]
async fn five_wrong_codes_invalidate_the_code_for_that_network_only() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    for _ in 0..5 {
        sign_in(&person, wrong).await.expect_unauthorized();
    }
    sign_in(&person, &code).await.expect_unauthorized();
    sign_in(&person.at("10.9.9.9"), &code).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn twenty_wrong_codes_invalidate_the_code_everywhere() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let code = world.mailed_code("admin@example.org").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    for number in 0..20 {
        let answer = sign_in(&person.at(&format!("10.9.0.{}", number / 4)), wrong).await;
        answer.expect_unauthorized();
    }
    sign_in(&person.at("10.9.9.9"), &code).await.expect_unauthorized();
}

#[tokio::test]
async fn wrong_codes_are_limited_to_thirty_per_network() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let person = pending(&world, "unknown@example.org").await;
    for _ in 0..30 {
        sign_in(&person, "000000").await.expect_unauthorized();
    }
    let refused = sign_in(&person, "000000").await;
    refused.expect_error(ErrorCode::TooManyAttempts);
    assert!((3500..=3600).contains(&refused.header("retry-after").parse::<u64>().unwrap()));
}

#[tokio::test]
async fn full_network_limit_does_not_block_who_signed_in_there_before() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let (member, newcomer) = (world.member().await, world.member().await);
    let school = "10.9.1.1";
    world.anonymous().at(school).sign_in(member.user().email.as_str(), PASSWORD).await;
    let stranger = pending(&world, "unknown@example.org").await.at(school);
    for _ in 0..30 {
        sign_in(&stranger, "000000").await.expect_unauthorized();
    }
    let from_school = async |person: &Person| {
        let email = person.user().email.as_str();
        let asked = pending(&world, email).await.at(school);
        sign_in(&asked, &world.mailed_code(email).await).await
    };
    from_school(&newcomer).await.expect_error(ErrorCode::TooManyAttempts);
    from_school(&member).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn wrong_codes_of_one_v6_site_are_counted_together() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let person = pending(&world, "unknown@example.org").await;
    let at = |network: u16| person.at(&format!("2001:db8:7:{network:x}::1"));
    // Ten times as many as of one network.
    for network in 0..10 {
        for _ in 0..30 {
            sign_in(&at(network), "000000").await.expect_unauthorized();
        }
    }
    sign_in(&at(300), "000000").await.expect_error(ErrorCode::TooManyAttempts);
    sign_in(&person.at("2001:db8:8::1"), "000000").await.expect_unauthorized();
}

#[tokio::test]
async fn code_expires_after_ten_minutes_or_when_replaced() {
    let world = World::new().await;
    let first = pending(&world, "admin@example.org").await;
    let old = world.mailed_link("admin@example.org").await;
    world.clock().advance(Duration::from_secs(60));
    pending(&world, "admin@example.org").await;
    let new = world.mailed_link("admin@example.org").await;
    sign_in(&first, &old).await.expect_unauthorized();
    world.clock().advance(Duration::from_secs(600));
    sign_in(&first, &new).await.expect_unauthorized();
}

#[tokio::test]
async fn over_message_limit_nothing_is_sent_and_old_code_stays_valid() {
    let world = World::new().await;
    let person = pending(&world, "admin@example.org").await;
    let link = world.mailed_link("admin@example.org").await;
    pending(&world, "admin@example.org").await;
    assert_eq!(world.mails("admin@example.org").await.len(), 1, "one per minute");
    sign_in(&person, &link).await.expect_success(Message::LoginSuccess);
    for minutes in 1..=4 {
        world.clock().advance(Duration::from_secs(60));
        pending(&world, "admin@example.org").await;
        let codes = world
            .mails("admin@example.org")
            .await
            .into_iter()
            .filter(|mail| mail["text"].as_str().unwrap().contains("#code="))
            .count();
        assert_eq!(codes, 3.min(minutes + 1), "three per 15 minutes");
    }
}

#[tokio::test]
async fn ten_codes_of_a_kind_a_day_leave_the_other_ways_to_sign_in() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    for _ in 0..12 {
        pending(&world, email).await;
        world.deliver().await;
        world.clock().advance(Duration::from_secs(900));
    }
    assert_eq!(world.mails(email).await.len(), 10);
    let anonymous = world.anonymous();
    anonymous.ask_to_reset(email, "email").await;
    assert_eq!(world.mails(email).await.len(), 11);
    anonymous.sign_in(email, PASSWORD).await;
}

#[tokio::test]
async fn request_after_503_is_sent_without_waiting() {
    for operation in ["TransactWriteItems", "GetItem"] {
        let world = World::new().await;
        world.inject_fault(Fault::new(Mode::Refuse).on(operation));
        ask(&world.anonymous(), "admin@example.org").await.expect_error(ErrorCode::Unavailable);
        world.clear_faults();
        ask(&world.anonymous(), "admin@example.org").await.expect_ok();
        assert_eq!(world.mails("admin@example.org").await.len(), 1, "{operation}");
    }
}

#[tokio::test]
async fn sms_limits_do_not_apply_without_a_verified_phone() {
    let world = World::with(&[("MESSAGE_INTERVAL_SECONDS", "1")]).await;
    let user = world.account(Profile::Member).await;
    for _ in 0..3 {
        world.clock().advance(Duration::from_secs(1));
        world.anonymous().ask_to_sign_in(&user.email, "sms").await;
        world.anonymous().ask_to_reset(&user.email, "sms").await;
    }
    assert_eq!(world.mails(user.email.as_str()).await.len(), 6);
}

#[tokio::test]
async fn account_closed_after_request_gets_no_message() {
    let (world, member) = World::with_member().await;
    ask(&world.anonymous(), member.user().email.as_str()).await.expect_ok();
    world.admin().await.set_active(member.user().user_id, false).await;
    let mails = world.mails(member.user().email.as_str()).await;
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert_eq!(mails[0]["subject"], "Votre compte Halqa est suspendu");
}
