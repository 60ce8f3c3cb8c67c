//! Attacks on accounts whose mailbox is not verified: the attacker registers an address of another person, who later
//! reads the mails sent to it.

use std::time::Duration;

use cloud::faults::{Fault, Mode, Service};
use common::{ErrorCode, Message};
use domain::Phone;
use serde_json::{Value, json};
use tests::{PASSWORD, Person, World};

pub(crate) const ADDRESS: &str = "victime@example.org";
const ATTACKER_NAME: &str = "Virement urgent";

/// The attacker, signed in to an account that they registered with [`ADDRESS`].
pub(crate) async fn registrant(world: &World) -> Person {
    let payload = json!({
        "name": ATTACKER_NAME, "lastName": "Trabelsi", "email": ADDRESS, "password": "cinq cigognes au nord", "committeeID": world.committee(),
    });
    let registered = world.anonymous().post("/users/register", payload).await.expect_created();
    let id = registered["user"]["userID"].as_str().unwrap();
    let session = sign_in(world).await.expect("the password is right");
    let user = world.user(id.parse().unwrap()).await;
    session.as_user(user)
}

/// A session of the account by the registrant's password, if it signs in.
pub(crate) async fn sign_in(world: &World) -> Option<Person> {
    let anonymous = world.anonymous();
    let answer = anonymous.login(ADDRESS, "cinq cigognes au nord").await;
    let token = answer.json()["user"]["token"].as_str()?.to_owned();
    Some(anonymous.with_token(&token))
}

async fn reset_password(world: &World, code: &str) -> tests::Answer {
    let payload = json!({
        "email": ADDRESS, "code": code, "newPassword": "le phare de Kelibia", "confirmPassword": "le phare de Kelibia",
    });
    world.anonymous().post("/users/reset-password", payload).await
}

pub(crate) async fn verify(person: &Person, email: &str, code: &str) -> tests::Answer {
    person.verify_email(email, code).await
}

pub(crate) async fn not_me(world: &World, code: &str) -> tests::Answer {
    let payload = json!({ "email": ADDRESS, "code": code });
    world.anonymous().post("/users/not-me", payload).await
}

/// The code of the link with which the owner of the mailbox removes the account, from the newest mail.
pub(crate) async fn removal_code(world: &World) -> String {
    let mails = world.mails(ADDRESS).await;
    let text = mails.first().unwrap()["text"].as_str().unwrap();
    let code = text.split("/not-me#code=").nth(1).expect("a second link");
    code.chars().take_while(char::is_ascii_alphabetic).collect()
}

#[tokio::test]
async fn click_without_a_session_verifies_no_account() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    let wish = json!({ "email": "attaquant@example.org", "password": "cinq cigognes au nord" });
    attacker.change_self(wish).await.expect_success(Message::UserUpdated);
    // The owner of the mailbox opens the links of both mails, also in the session of an account of their own.
    let owner = world.member().await;
    for email in [ADDRESS, "attaquant@example.org"] {
        let mails = world.mails(email).await;
        let link = tests::link(mails.last().unwrap()["text"].as_str().unwrap());
        verify(&world.anonymous(), email, &link).await.expect_unauthorized();
        verify(&owner, email, &link).await.expect_error(ErrorCode::VerificationInvalid);
    }
    let user = world.user(attacker.user().user_id).await;
    assert_eq!((user.email.as_str(), user.is_verified), (ADDRESS, false));
}

#[tokio::test]
async fn registrant_has_nothing_left_once_the_owner_signs_in_by_code() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    let contact = json!({
        "phoneCode": "216", "phone": "20123456", "email": "attaquant@example.org", "password": "cinq cigognes au nord",
    });
    attacker.change_self(contact).await.expect_success(Message::UserUpdated);
    let wanted = world.mailed_code("attaquant@example.org").await;
    let owner = world.anonymous();
    let requested = owner.ask_to_sign_in(ADDRESS, "email").await;
    let code = world.mailed_code(ADDRESS).await;
    let signed_in = owner
        .with_token(requested["token"].as_str().unwrap())
        .get(&format!("/auth/passwordless?code={code}"))
        .await
        .expect_success(Message::LoginSuccess);
    attacker.get("/auth/current-user").await.expect_unauthorized();
    assert!(sign_in(&world).await.is_none());
    let user = world.user(attacker.user().user_id).await;
    assert_eq!((&user.pending_email, &user.phone), (&None, &Phone::default()));
    let token = signed_in["user"]["token"].as_str().unwrap();
    let owner = world.anonymous().with_token(token);
    owner.get("/auth/current-user").await.expect_ok();
    let answer = verify(&owner, "attaquant@example.org", &wanted).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
    assert_eq!(world.mails(ADDRESS).await[0]["subject"], "Choisissez votre mot de passe Halqa");

    world.clock().advance(Duration::from_secs(60));
    owner.ask_to_reset(ADDRESS, "email").await;
    let code = world.mailed_code(ADDRESS).await;
    reset_password(&world, &code).await.expect_success(Message::PasswordChanged);
    world.anonymous().sign_in(ADDRESS, "le phare de Kelibia").await;
}

#[tokio::test]
async fn reset_by_the_owner_drops_address_and_number_of_the_registrant() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    world.admin().await.change_member(attacker.user().user_id, json!({ "isVerified": true })).await;
    let contact = json!({
        "phoneCode": "216", "phone": "20123456", "email": "attaquant@example.org", "password": "cinq cigognes au nord",
    });
    attacker.change_self(contact).await.expect_success(Message::UserUpdated);
    attacker.post("/users/phone-verification", json!({})).await.expect_ok();
    let code = world.texted_code("+21620123456").await;
    attacker.put("/users/phone-verification", json!({ "code": code })).await.expect_ok();

    let owner = world.anonymous();
    owner.ask_to_reset(ADDRESS, "email").await;
    let code = world.mailed_code(ADDRESS).await;
    reset_password(&world, &code).await.expect_success(Message::PasswordChanged);
    let user = world.user(attacker.user().user_id).await;
    assert_eq!((&user.pending_email, &user.phone), (&None, &Phone::default()));
    // Codes no longer go to the attacker's phone.
    world.clock().advance(Duration::from_secs(60));
    owner.ask_to_reset(ADDRESS, "sms").await;
    assert_eq!(world.texts("+21620123456").await.len(), 1);
    assert!(sign_in(&world).await.is_none());
}

#[tokio::test]
async fn first_verification_in_a_session_keeps_that_session_alone() {
    let world = World::new().await;
    let person = registrant(&world).await;
    let other = sign_in(&world).await.unwrap();
    let wish = json!({ "email": "autre@example.org", "password": "cinq cigognes au nord" });
    person.change_self(wish).await.expect_success(Message::UserUpdated);
    let code = tests::digits(world.mails(ADDRESS).await.last().unwrap()["text"].as_str().unwrap());
    verify(&person, ADDRESS, &code).await.expect_success(Message::EmailVerified);
    person.get("/auth/current-user").await.expect_ok();
    other.get("/auth/current-user").await.expect_unauthorized();
    let user = world.user(person.user().user_id).await;
    assert_eq!(user.pending_email.unwrap().as_str(), "autre@example.org");
    // A later code is not the first one: it ends no session.
    let session = sign_in(&world).await.unwrap();
    world.clock().advance(Duration::from_secs(60));
    person.post("/users/email-verification", json!({})).await.expect_ok();
    let code = world.mailed_code("autre@example.org").await;
    verify(&person, "autre@example.org", &code).await.expect_ok();
    session.get("/auth/current-user").await.expect_ok();
}

#[tokio::test]
async fn unverified_account_is_erased_after_seven_days() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    let day = Duration::from_secs(86_400);
    world.clock().advance(day * 7 - Duration::from_secs(60));
    world.sweep().await;
    assert!(sign_in(&world).await.is_some());
    world.clock().advance(Duration::from_secs(60));
    world.sweep().await;
    assert!(sign_in(&world).await.is_none());
    attacker.get("/auth/current-user").await.expect_unauthorized();
    registrant(&world).await;
}

#[tokio::test]
async fn verified_account_is_not_erased_after_seven_days() {
    let world = World::new().await;
    let person = registrant(&world).await;
    let code = removal_code(&world).await;
    world.admin().await.change_member(person.user().user_id, json!({ "isVerified": true })).await;
    world.clock().advance(Duration::from_secs(8 * 86_400));
    world.sweep().await;
    assert!(sign_in(&world).await.is_some());
    // The mailbox is still not verified, so its owner can remove the account.
    not_me(&world, &code).await.expect_success(Message::AccountRemoved);
}

#[tokio::test]
async fn verification_that_an_administrator_took_back_stays_taken() {
    let world = World::new().await;
    let person = registrant(&world).await;
    let admin = world.admin().await;
    let path = format!("/team/{}", person.user().user_id);
    for is_verified in [true, false] {
        admin.put(&path, json!({ "isVerified": is_verified })).await.expect_ok();
    }
    let code = world.mailed_code(ADDRESS).await;
    verify(&person, ADDRESS, &code).await.expect_success(Message::EmailVerified);
    let is_verified = async || world.user(person.user().user_id).await.is_verified;
    assert!(!is_verified().await);
    person.get("/users/my-committee-users").await.expect_error(ErrorCode::AccountNotVerified);
    admin.put(&path, json!({ "isVerified": true })).await.expect_ok();
    assert!(is_verified().await);
}

#[tokio::test]
async fn code_ends_with_password_change_reset_and_deactivation() {
    let world = World::new().await;
    let person = world.member().await;
    let email = person.user().email.to_string();
    let admin = world.admin().await;
    let passwordless = async || {
        world.clock().advance(Duration::from_secs(900));
        world.anonymous().ask_to_sign_in(&email, "email").await;
        world.mailed_link(&email).await
    };
    let fails = async |link: String| {
        let answer = world.anonymous().get(&format!("/auth/passwordless?code={link}")).await;
        answer.expect_unauthorized();
    };

    let link = passwordless().await;
    for is_active in [false, true] {
        admin.set_active(person.user().user_id, is_active).await;
    }
    fails(link).await;

    let person = world.signed_in(world.user(person.user().user_id).await).await;
    let link = passwordless().await;
    person.request_address("voulue@example.org").await.expect_ok();
    let wanted = world.mailed_code("voulue@example.org").await;
    person
        .change_password(PASSWORD, "le phare de Kelibia")
        .await
        .expect_success(Message::PasswordChanged);
    fails(link).await;
    let answer = verify(&person, "voulue@example.org", &wanted).await;
    answer.expect_error(ErrorCode::VerificationInvalid);
}

#[tokio::test]
async fn mail_to_an_unverified_address_contains_no_text_of_the_registrant() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    let wish = json!({ "email": "cible@example.org", "password": "cinq cigognes au nord" });
    attacker.change_self(wish).await.expect_success(Message::UserUpdated);
    attacker
        .change_password("cinq cigognes au nord", "le phare de Kelibia")
        .await
        .expect_success(Message::PasswordChanged);
    let mut mails = world.mails(ADDRESS).await;
    assert_eq!(mails.len(), 3, "code, request for an address, password");
    mails.extend(world.mails("cible@example.org").await);
    assert_eq!(mails.len(), 4);
    let written = Value::from(mails).to_string();
    assert!(!written.contains("Virement"), "{written}");
}

#[tokio::test]
async fn two_people_who_want_one_address_confirm_their_own_change() {
    let world = World::new().await;
    let (one, two) = (world.member().await, world.member().await);
    for person in [&one, &two] {
        person.request_address("voulue@example.org").await.expect_ok();
    }
    let mails = world.mails("voulue@example.org").await;
    let first = tests::digits(mails[1]["text"].as_str().unwrap());
    // The second request does not end the first code, and each code moves its own account.
    verify(&two, "voulue@example.org", &first).await.expect_error(ErrorCode::VerificationInvalid);
    verify(&one, "voulue@example.org", &first).await.expect_ok();
    let email = async |person: &Person| world.user(person.user().user_id).await.email.to_string();
    assert_eq!(email(&one).await, "voulue@example.org");
    assert_eq!(email(&two).await, two.user().email.to_string());
}

#[tokio::test]
async fn attempt_that_ends_with_503_is_not_counted() {
    let world = World::new().await;
    let person = world.member().await;
    person.request_address("voulue@example.org").await.expect_ok();
    let digits = world.mailed_code("voulue@example.org").await;
    let verified = async || verify(&person, "voulue@example.org", &digits).await;
    world.inject_fault(Fault::new(Mode::Throttle).on("TransactWriteItems"));
    for _ in 0..6 {
        verified().await.expect_error(ErrorCode::Unavailable);
    }
    world.clear_faults();
    verified().await.expect_success(Message::EmailVerified);
}

#[tokio::test]
async fn unverified_mailbox_gets_ten_notifications_of_a_kind_a_day() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    for number in 20_123_400..20_123_412 {
        let phone = json!({ "password": "cinq cigognes au nord", "phoneCode": "216", "phone": number.to_string() });
        attacker.change_self(phone).await.expect_success(Message::UserUpdated);
        world.deliver().await;
        world.clock().advance(Duration::from_secs(600));
    }
    assert_eq!(world.mails(ADDRESS).await.len(), 1 + 10);
}

#[tokio::test]
async fn address_gets_three_mails_of_registrations_a_day() {
    let world = World::new().await;
    for _ in 0..5 {
        let attacker = registrant(&world).await;
        world.deliver().await;
        let path = format!("/users/{}", attacker.user().user_id);
        let password = json!({ "password": "cinq cigognes au nord" });
        attacker.delete_with(&path, password).await.expect_success(Message::UserDeleted);
    }
    let mails = world.mails(ADDRESS).await;
    let welcomes = mails.iter().filter(|mail| mail["text"].to_string().contains("#code="));
    assert_eq!(welcomes.count(), 3);
}

#[tokio::test]
async fn wanted_address_gets_twenty_codes_a_day_of_all_accounts() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let mut people = Vec::new();
    for _ in 0..8 {
        let person = world.member().await;
        person.request_address(ADDRESS).await.expect_ok();
        people.push(person);
    }
    let mut refused = 0;
    for _ in 0..2 {
        world.clock().advance(Duration::from_secs(60));
        for person in &people {
            let answer = person.post("/users/email-verification", json!({})).await;
            refused += usize::from(answer.status == 429);
        }
    }
    assert_eq!((world.mails(ADDRESS).await.len(), refused), (20, 4));
}

#[tokio::test]
async fn refused_notification_to_unverified_mailbox_counts_once() {
    let world = World::new().await;
    let attacker = registrant(&world).await;
    assert_eq!(world.mails(ADDRESS).await.len(), 1);
    let phone =
        json!({ "password": "cinq cigognes au nord", "phoneCode": "216", "phone": "20123456" });
    attacker.change_self(phone).await.expect_success(Message::UserUpdated);
    world.inject_fault_in(Service::Ses, Fault::new(Mode::Throttle).times(12));
    world.deliver().await;
    for _ in 0..12 {
        world.clock().advance(Duration::from_secs(900));
        world.sweep().await;
    }
    assert_eq!(world.mails(ADDRESS).await.len(), 2);
}
