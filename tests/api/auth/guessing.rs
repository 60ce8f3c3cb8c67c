//! Guessing codes and passwords from many networks, and locking out others by it.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::code::{CodeId, CodeKind};
use identity::code::email_challenge;
use serde_json::{Value, json};
use store::CommitOutcome;
use tests::{Answer, PASSWORD, Person, World};

const EMAIL: &str = "admin@example.org";
const NEW: &str = "le phare de Kelibia";

async fn reset(person: &Person, code: &str) -> Answer {
    let body = json!({ "email": EMAIL, "code": code, "newPassword": NEW, "confirmPassword": NEW });
    person.post("/users/reset-password", body).await
}

fn wrong(code: &str) -> String {
    let first = if code.starts_with('0') { "1" } else { "0" };
    format!("{first}{}", &code[1..])
}

/// Sends five wrong digits from each of four networks.
async fn guess_twenty_times(world: &World, code: &str) {
    for _ in 0..4 {
        let attacker = world.anonymous();
        for _ in 0..5 {
            reset(&attacker, &wrong(code)).await.expect_error(ErrorCode::ResetCodeInvalid);
        }
    }
}

#[tokio::test]
async fn twenty_wrong_digits_a_day_refuse_those_of_all_codes_of_an_account() {
    let world = World::new().await;
    world.anonymous().ask_to_reset(EMAIL, "email").await;
    guess_twenty_times(&world, &world.mailed_code(EMAIL).await).await;
    world.clock().advance(Duration::from_secs(900));
    // A new code of another kind.
    let asked = world.anonymous().ask_to_sign_in(EMAIL, "email").await;
    let (digits, link) = (world.mailed_code(EMAIL).await, world.mailed_link(EMAIL).await);
    let pending = world.anonymous().with_token(asked["token"].as_str().unwrap());
    pending.get(&format!("/auth/passwordless?code={digits}")).await.expect_unauthorized();
    let answer = world.anonymous().get(&format!("/auth/passwordless?code={link}")).await;
    answer.expect_success(Message::LoginSuccess);
    world.clock().advance(Duration::from_secs(86_400));
    let asked = world.anonymous().ask_to_sign_in(EMAIL, "email").await;
    let digits = world.mailed_code(EMAIL).await;
    let pending = world.anonymous().with_token(asked["token"].as_str().unwrap());
    let answer = pending.get(&format!("/auth/passwordless?code={digits}")).await;
    answer.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn five_wrong_digits_refuse_those_of_a_code_to_their_network_alone() {
    let world = World::new().await;
    world.anonymous().ask_to_reset(EMAIL, "email").await;
    let code = world.mailed_code(EMAIL).await;
    let (attacker, owner) = (world.anonymous(), world.anonymous());
    for _ in 0..5 {
        reset(&attacker, &wrong(&code)).await.expect_error(ErrorCode::ResetCodeInvalid);
    }
    reset(&attacker, &code).await.expect_error(ErrorCode::ResetCodeInvalid);
    reset(&owner, &code).await.expect_ok();
}

/// Who could copy a code from one item to another would know its digits.
#[tokio::test]
async fn code_copied_to_another_account_is_wrong_there() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.clone();
    world.anonymous().ask_to_reset(&email, "email").await;
    let digits = world.mailed_code(email.as_str()).await;
    let (store, now) = (&world.setup().store, world.clock().now());
    let own = email_challenge(&email);
    let mut copied =
        store.code(CodeId { kind: CodeKind::Reset, challenge: own }, now).await.unwrap().unwrap();
    let admin = world.admin().await;
    (copied.user_id, copied.epoch) = (admin.user().user_id, admin.user().epoch);
    let mut tx = store.transaction();
    tx.put_code(
        CodeId { kind: CodeKind::Reset, challenge: email_challenge(&admin.user().email) },
        &copied,
    );
    assert_eq!(tx.commit().await.unwrap(), CommitOutcome::Committed);
    let answer = reset(&world.anonymous(), &digits).await;
    answer.expect_error(ErrorCode::ResetCodeInvalid);
}

#[tokio::test]
async fn right_link_is_not_refused_after_any_number_of_wrong_codes() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let person = world.anonymous();
    person.ask_to_reset(EMAIL, "email").await;
    let (digits, link) = (world.mailed_code(EMAIL).await, world.mailed_link(EMAIL).await);
    guess_twenty_times(&world, &digits).await;
    for _ in 0..40 {
        let body = json!({ "email": EMAIL, "code": "aaaa" });
        person.post("/users/not-me", body).await.expect_error(ErrorCode::VerificationInvalid);
        let answer = reset(&person, &wrong(&digits)).await;
        assert!([400, 429].contains(&answer.status), "{answer:?}");
    }
    reset(&person, &digits).await.expect_error(ErrorCode::TooManyAttempts);
    reset(&person, &link).await.expect_success(Message::PasswordChanged);
}

async fn expect_signed_in(person: &Person, email: &str) {
    person.login(email, PASSWORD).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn wrong_passwords_of_a_guest_lock_out_no_one_who_signed_in_there() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let school = world.anonymous();
    let (colleague, newcomer) = (world.member().await, world.member().await);
    let (colleague, newcomer) = (colleague.user().email.as_str(), newcomer.user().email.as_str());
    expect_signed_in(&school, colleague).await;
    for number in 0..50 {
        school.login(&format!("invente{number}@example.org"), PASSWORD).await.expect_unauthorized();
    }
    expect_signed_in(&school, colleague).await;
    school.login(newcomer, PASSWORD).await.expect_error(ErrorCode::TooManyAttempts);
    // The counter of the account at this network still holds.
    for _ in 0..10 {
        school.login(colleague, "wrong password").await.expect_unauthorized();
    }
    school.login(colleague, PASSWORD).await.expect_error(ErrorCode::TooManyAttempts);
}

#[tokio::test]
async fn wrong_passwords_of_strangers_do_not_lock_out_the_owner_at_home() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let home = world.anonymous();
    expect_signed_in(&home, email).await;
    for _ in 0..10 {
        let attacker = world.anonymous();
        for _ in 0..10 {
            attacker.login(email, "wrong password").await.expect_unauthorized();
        }
    }
    world.anonymous().login(email, PASSWORD).await.expect_error(ErrorCode::TooManyAttempts);
    expect_signed_in(&home, email).await;
}

#[tokio::test]
async fn known_network_may_send_a_hundred_wrong_passwords_a_day() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let home = world.anonymous();
    expect_signed_in(&home, email).await;
    let send_ten = async || {
        world.clock().advance(Duration::from_secs(900));
        for _ in 0..10 {
            home.login(email, "wrong password").await.expect_unauthorized();
        }
    };
    for _ in 0..10 {
        send_ten().await;
    }
    world.clock().advance(Duration::from_secs(900));
    home.login(email, PASSWORD).await.expect_error(ErrorCode::TooManyAttempts);
    let thief = member.at(&home.ip().to_string());
    let answer = thief.change_password("wrong password", NEW).await;
    answer.expect_error(ErrorCode::TooManyAttempts);
    expect_signed_in(&world.anonymous(), email).await;
    world.clock().advance(Duration::from_secs(86_400));
    send_ten().await;
}

#[tokio::test]
async fn sign_ins_of_a_thief_leave_the_owners_network_known() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let home = world.anonymous();
    expect_signed_in(&home, email).await;
    for number in 1..=40 {
        world.clock().advance(Duration::from_secs(3600));
        let agent = format!("Mozilla/5.0 (X11; Linux) Chrome/{number}.0");
        let thief = world.anonymous().at(&format!("172.{number}.0.1")).with("user-agent", &agent);
        expect_signed_in(&thief, email).await;
    }
    for _ in 0..10 {
        let attacker = world.anonymous();
        for _ in 0..10 {
            attacker.login(email, "wrong password").await.expect_unauthorized();
        }
    }
    world.anonymous().login(email, PASSWORD).await.expect_error(ErrorCode::TooManyAttempts);
    expect_signed_in(&home, email).await;
}

#[tokio::test]
async fn wrong_passwords_of_one_v6_site_are_counted_together() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let at = |network: u16| world.anonymous().at(&format!("2001:db8:7:{network:x}::1"));
    // Ten times as many as of one network.
    for network in 0..10 {
        for number in 0..50 {
            let address = format!("invente{network}-{number}@example.org");
            at(network).login(&address, PASSWORD).await.expect_unauthorized();
        }
    }
    let email = member.user().email.as_str();
    at(300).login(email, PASSWORD).await.expect_error(ErrorCode::TooManyAttempts);
    let elsewhere = world.anonymous().at("2001:db8:8::1");
    elsewhere.login(email, PASSWORD).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn strangers_do_not_use_up_the_codes_of_the_owner_at_home() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let home = world.anonymous();
    expect_signed_in(&home, email).await;
    for _ in 0..12 {
        world.anonymous().ask_to_reset(email, "email").await;
        world.deliver().await;
        world.clock().advance(Duration::from_secs(900));
    }
    assert_eq!(codes(&world, email).await, 10);
    world.anonymous().ask_to_reset(email, "email").await;
    assert_eq!(codes(&world, email).await, 10);
    home.ask_to_reset(email, "email").await;
    assert_eq!(codes(&world, email).await, 11);
    home.ask_to_reset(email, "email").await;
    assert_eq!(codes(&world, email).await, 11, "one a minute");
}

/// The number of mails with a code that `email` has received.
async fn codes(world: &World, email: &str) -> usize {
    let mails = world.mails(email).await;
    mails.into_iter().filter(|mail: &Value| mail["text"].to_string().contains("#code=")).count()
}

/// Signs in to the account with the address `email` from twenty networks, and requests three codes of both kinds from
/// each of them.
async fn request_from_twenty_networks(world: &World, email: &str, password: &str) {
    let mut networks = Vec::new();
    for _ in 0..20 {
        let person = world.anonymous();
        person.sign_in(email, password).await;
        networks.push(person);
    }
    for _ in 0..3 {
        for person in &networks {
            person.ask_to_reset(email, "email").await;
            person.ask_to_sign_in(email, "email").await;
        }
        world.clock().advance(Duration::from_secs(60));
    }
}

#[tokio::test]
async fn networks_of_an_unverified_mailbox_have_no_codes_of_their_own() {
    let world = World::new().await;
    let email = "victime@example.org";
    world.register(email).await;
    request_from_twenty_networks(&world, email, "clé de sol et fa").await;
    // That of the registration, and three in 15 minutes of each kind.
    assert_eq!(codes(&world, email).await, 1 + 2 * 3);
}

#[tokio::test]
async fn networks_that_know_an_account_have_thirty_codes_a_day_together() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    request_from_twenty_networks(&world, email, PASSWORD).await;
    assert_eq!(codes(&world, email).await, 30);
    // Those of strangers are counted apart.
    world.anonymous().ask_to_reset(email, "email").await;
    assert_eq!(codes(&world, email).await, 31);
    world.clock().advance(Duration::from_secs(86_400));
    request_from_twenty_networks(&world, email, PASSWORD).await;
    assert_eq!(codes(&world, email).await, 61);
}
