use std::time::Duration;

use common::ErrorCode;
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, World};

#[tokio::test]
async fn texted_code_verifies_the_number_and_a_new_number_is_unverified() {
    let (world, member) = World::with_member().await;
    let answer = member.post("/users/phone-verification", json!({})).await;
    answer.expect_field_error("phone", ErrorCode::FieldRequired);
    member.set_number("20123456").await;
    member.post("/users/phone-verification", json!({})).await.expect_ok();
    let code = world.texted_code("+21620123456").await;
    let answer = member.put("/users/phone-verification", json!({ "code": "000000x" })).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    member.put("/users/phone-verification", json!({ "code": code })).await.expect_ok();
    assert!(world.user(member.user().user_id).await.is_phone_verified);
    let answer = member.put("/users/phone-verification", json!({ "code": code })).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    member.set_number("20123457").await;
    assert!(!world.user(member.user().user_id).await.is_phone_verified);
}

#[tokio::test]
async fn code_for_one_number_does_not_verify_another() {
    let (world, member) = World::with_member().await;
    member.set_number("20123456").await;
    member.post("/users/phone-verification", json!({})).await.expect_ok();
    let code = world.texted_code("+21620123456").await;
    member.set_number("20123457").await;
    let answer = member.put("/users/phone-verification", json!({ "code": code })).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
}

/// Requests a code by text message for the unverified `number` of a new account, from the address `ip`, which must
/// succeed `if_within`, the limits of texts.
async fn request_text(world: &World, number: &str, ip: &str, if_within: bool) {
    let member = world.member().await.at(ip);
    member.set_number(number).await;
    let answer = member.post("/users/phone-verification", json!({})).await;
    if if_within {
        answer.expect_ok();
    } else {
        answer.expect_error(ErrorCode::TooManyAttempts);
    }
}

#[tokio::test]
async fn account_gets_at_most_five_texts_a_day() {
    let world = World::new().await;
    let member = world.person(NewPerson::with(Profile::Member).with_phone("216", "20123456")).await;
    for number in 0..7 {
        let answer = member.post("/users/phone-verification", json!({})).await;
        assert_eq!(answer.status, if number < 5 { 200 } else { 429 });
        world.deliver().await;
        world.clock().advance(Duration::from_secs(900));
    }
    assert_eq!(world.texts("+21620123456").await.len(), 5);
}

#[tokio::test]
async fn number_gets_at_most_ten_texts_a_day_from_all_accounts() {
    let world = World::new().await;
    for number in 0..12 {
        request_text(&world, "20123456", &format!("10.200.{number}.1"), number < 10).await;
    }
    assert_eq!(world.texts("+21620123456").await.len(), 10);
}

#[tokio::test]
async fn network_requests_at_most_twenty_texts_an_hour() {
    let world = World::new().await;
    let mut sent = 0;
    for number in 20_123_400..20_123_422 {
        request_text(&world, &number.to_string(), "10.200.0.1", sent < 20).await;
        sent += world.texts(&format!("+216{number}")).await.len();
    }
    assert_eq!(sent, 20);
}

#[tokio::test]
async fn texts_to_unverified_numbers_are_limited_in_all() {
    let world = World::with(&[("SMS_CODES_PER_DAY", "3")]).await;
    let mut sent = 0;
    for number in 20_123_400..20_123_405 {
        let ip = format!("10.200.0.{}", number % 100);
        request_text(&world, &number.to_string(), &ip, sent < 3).await;
        sent += world.texts(&format!("+216{number}")).await.len();
    }
    assert_eq!(sent, 3);
}

#[tokio::test]
async fn reset_code_beyond_the_texts_of_a_day_goes_by_mail() {
    let world = World::new().await;
    let member = world.person(NewPerson::with(Profile::Member).with_phone("216", "20123456")).await;
    let email = member.user().email.to_string();
    for _ in 0..6 {
        world.anonymous().ask_to_reset(&email, "sms").await;
        world.deliver().await;
        world.clock().advance(Duration::from_secs(900));
    }
    assert_eq!(world.texts("+21620123456").await.len(), 5);
    assert_eq!(world.mails(&email).await.len(), 1);
}

#[tokio::test]
async fn number_that_is_not_a_permitted_mobile_gets_no_code() {
    let world = World::new().await;
    for (code, number) in [("33", "612345678"), ("216", "71123456")] {
        let person = world.person(NewPerson::with(Profile::Member).with_phone(code, number)).await;
        let answer = person.post("/users/phone-verification", json!({})).await;
        answer.expect_field_error("phone", ErrorCode::PhoneNotReachable);
        assert_eq!(world.texts(&format!("+{code}{number}")).await.len(), 0);
    }
    // A number that was verified while its country was permitted gets its codes by mail.
    let person = world.person(NewPerson::with(Profile::Member).with_phone("33", "612345679")).await;
    let email = person.user().email.as_str();
    world.anonymous().ask_to_sign_in(email, "sms").await;
    assert_eq!(world.texts("+33612345679").await.len(), 0);
    assert_eq!(world.mails(email).await.len(), 1);
}
