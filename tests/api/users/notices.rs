//! The owner learns of what happens to the account, whatever else happens to it.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::{Value, json};
use tests::{Authenticator, NewPerson, PASSWORD, Person, TotpApp, World};

/// The subjects of the mails to `email`, newest first.
async fn subjects(world: &World, email: &str) -> Vec<String> {
    let mails = world.mails(email).await;
    mails.iter().map(|mail| mail["subject"].as_str().unwrap().to_owned()).collect()
}

const NEW_DEVICE: &str = "Nouvelle connexion à votre compte Halqa";

#[tokio::test]
async fn invented_devices_hide_no_other_notification() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let member = world.member().await;
    let email = member.user().email.as_str();
    let attacker = world.anonymous();
    for number in 0..15 {
        let agent = format!("Mozilla/5.0 (X11; Linux) Chrome/{number}.0");
        let client = attacker.with("user-agent", &agent).at(&format!("10.{}.0.1", 100 + number));
        client.sign_in(email, PASSWORD).await;
    }
    let mails = world.mails(email).await;
    let of_devices: Vec<&Value> =
        mails.iter().filter(|mail| mail["subject"] == NEW_DEVICE).collect();
    assert_eq!(of_devices.len(), 10);
    let says_more = |mail: &Value| mail["text"].as_str().unwrap().contains("dixième");
    assert!(says_more(of_devices[0]) && !says_more(of_devices[1]), "{mails:?}");

    let thief = world.signed_in(member.user().clone()).await;
    Authenticator::registered_by(&thief).await;
    thief.set_number("20123456").await;
    thief.request_address("voleur@example.org").await.expect_ok();
    let latest = subjects(&world, email).await;
    assert_eq!(
        latest[..3],
        [
            "Changement d’adresse e-mail demandé pour votre compte Halqa",
            "Le numéro de téléphone de votre compte Halqa a été modifié",
            "Clé d’accès ajoutée à votre compte Halqa",
        ]
    );
}

#[tokio::test]
async fn reset_forgets_the_devices_that_signed_in_before() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let thief = world.anonymous();
    thief.sign_in(email, PASSWORD).await;
    world.clock().advance(Duration::from_secs(300));
    member.get("/auth/check").await.expect_ok();
    let mut authenticator = Authenticator::registered_by(&member).await;
    authenticator.sign_in(&thief).await.expect_success(Message::LoginSuccess);
    world.anonymous().ask_to_reset(email, "email").await;
    let code = world.mailed_code(email).await;
    let new = "le phare de Kelibia";
    let body = json!({ "email": email, "code": code, "newPassword": new, "confirmPassword": new });
    world.anonymous().post("/users/reset-password", body).await.expect_ok();
    // The passkey of the thief still signs in; the owner learns of it.
    authenticator.sign_in(&thief).await.expect_success(Message::LoginSuccess);
    assert_eq!(subjects(&world, email).await[0], NEW_DEVICE);
}

/// Signs in to the account with the address `email` from fifteen new devices, as an attacker who uses up the notifications
/// of new devices.
async fn invent_devices(world: &World, email: &str, password: &str) {
    for number in 0..15 {
        let thief = world.anonymous().at(&format!("172.{number}.0.1"));
        thief.sign_in(email, password).await;
    }
    assert_eq!(of_new_devices(world, email).await, 10);
}

/// How many notifications of new devices `email` has received.
async fn of_new_devices(world: &World, email: &str) -> usize {
    let subjects = subjects(world, email).await;
    subjects.iter().filter(|subject| *subject == NEW_DEVICE).count()
}

#[tokio::test]
async fn new_devices_are_reported_again_after_a_reset() {
    for method in ["email", "sms"] {
        let world = World::new().await;
        let owner = NewPerson::with(Profile::Member).with_phone("216", "20123456");
        let member = world.person(&owner).await;
        let email = member.user().email.as_str();
        let mut authenticator = Authenticator::registered_by(&member).await;
        invent_devices(&world, email, PASSWORD).await;
        world.anonymous().ask_to_reset(email, method).await;
        let code = match method {
            "email" => world.mailed_code(email).await,
            _ => world.texted_code("+21620123456").await,
        };
        let new = "le phare de Kelibia";
        let body =
            json!({ "email": email, "code": code, "newPassword": new, "confirmPassword": new });
        world.anonymous().post("/users/reset-password", body).await.expect_ok();
        let thief = world.anonymous().at("172.0.0.1");
        authenticator.sign_in(&thief).await.expect_success(Message::LoginSuccess);
        assert_eq!(of_new_devices(&world, email).await, 11, "after a reset by {method}");
    }
}

#[tokio::test]
async fn new_devices_are_reported_again_after_a_reactivation() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    invent_devices(&world, email, PASSWORD).await;
    let admin = world.admin().await;
    for is_active in [false, true] {
        admin.set_active(member.user().user_id, is_active).await;
    }
    world.anonymous().at("192.0.2.1").sign_in(email, PASSWORD).await;
    assert_eq!(of_new_devices(&world, email).await, 11);
}

#[tokio::test]
async fn new_devices_are_reported_again_after_the_first_verification() {
    let world = World::new().await;
    let (email, password) = ("victime@example.org", "clé de sol et fa");
    world.register(email).await;
    let code = world.mailed_code(email).await;
    let owner = world.anonymous();
    let token = owner.sign_in(email, password).await["user"]["token"].clone();
    invent_devices(&world, email, password).await;
    let owner = owner.with_token(token.as_str().unwrap());
    owner.verify_email(email, &code).await.expect_success(Message::EmailVerified);
    world.anonymous().at("192.0.2.1").sign_in(email, password).await;
    assert_eq!(of_new_devices(&world, email).await, 11);
}

#[tokio::test]
async fn changes_that_the_owner_is_told_of_are_limited_to_ten_an_hour() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let member = world.member().await;
    let path = format!("/team/{}", member.user().user_id);
    for number in 0..11 {
        let phone = json!({ "phoneCode": "216", "phone": format!("20{number:06}") });
        let answer = admin.put(&path, phone).await;
        match number {
            10 => answer.expect_error(ErrorCode::TooManyAttempts),
            _ => _ = answer.expect_success(Message::TeamMemberUpdated),
        }
    }
    assert_eq!(world.mails(member.user().email.as_str()).await.len(), 10);
    admin.put(&path, json!({ "name": "Leïla" })).await.expect_success(Message::TeamMemberUpdated);
    world.clock().advance(Duration::from_secs(3600));
    let phone = json!({ "phoneCode": "216", "phone": "20123456" });
    admin.put(&path, phone).await.expect_success(Message::TeamMemberUpdated);
    assert_eq!(world.mails(member.user().email.as_str()).await.len(), 11);
}

#[tokio::test]
async fn owner_is_told_of_suspension_and_erasure() {
    let (world, admin) = World::with_admin().await;
    let member = world.member().await;
    let (id, email) = (member.user().user_id, member.user().email.as_str());
    for is_active in [false, false, true] {
        admin.set_active(id, is_active).await;
    }
    assert_eq!(subjects(&world, email).await, ["Votre compte Halqa est suspendu"]);
    let member = world.signed_in(world.user(id).await).await;
    member.delete_with(&format!("/users/{id}"), json!({ "password": PASSWORD })).await.expect_ok();
    assert_eq!(subjects(&world, email).await[0], "Votre compte Halqa est supprimé");
}

#[tokio::test]
async fn owner_is_told_of_each_suspension_of_a_day() {
    let (world, admin) = World::with_admin().await;
    let member = world.member().await;
    for _ in 0..12 {
        for is_active in [false, true] {
            admin.set_active(member.user().user_id, is_active).await;
        }
        world.deliver().await;
        world.clock().advance(Duration::from_secs(600));
    }
    let subjects = subjects(&world, member.user().email.as_str()).await;
    assert_eq!(subjects, ["Votre compte Halqa est suspendu"; 12]);
}

async fn mail_of(world: &World, person: &Person) -> Value {
    world.mails(person.user().email.as_str()).await[0].clone()
}

#[tokio::test]
async fn owner_is_told_of_new_recovery_codes_and_of_otp_replaced_and_off() {
    let (world, member) = World::with_member().await;
    let step = Duration::from_secs(30);
    let app = TotpApp::enrolled_by(&world, &member).await;
    world.clock().advance(step);
    let code = json!({ "code": app.code(&world) });
    member.post("/otp/recovery-codes", code).await.expect_created();
    let subject = "Nouveaux codes de secours de votre compte Halqa";
    assert_eq!(mail_of(&world, &member).await["subject"], subject);
    world.clock().advance(step);
    let app = app.replaced_by(&world, &member).await;
    let subject = "Double authentification de votre compte Halqa remplacée";
    assert_eq!(mail_of(&world, &member).await["subject"], subject);
    let off = json!({ "password": PASSWORD, "recoveryCode": app.recovery_codes[0] });
    member.delete_with("/otp", off).await.expect_ok();
    let mail = mail_of(&world, &member).await;
    assert_eq!(mail["subject"], "Double authentification désactivée sur votre compte Halqa");
}
