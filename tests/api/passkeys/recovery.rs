use common::Message;
use domain::Profile;
use http::Method;
use serde_json::{Value, json};
use tests::{Authenticator, NewPerson, PASSWORD, Person, World};

/// A person whom an administrator verified, and whose mailbox is not verified.
async fn without_mailbox(world: &World) -> Person {
    let new = NewPerson::with(Profile::Member).unverified();
    let person = world.person(new).await;
    let path = format!("/team/{}", person.user().user_id);
    world.admin().await.put(&path, json!({ "isVerified": true })).await.expect_ok();
    person
}

async fn expect_removed(world: &World, person: &Person, mut authenticator: Authenticator) {
    authenticator.sign_in(&world.anonymous()).await.expect_unauthorized();
    assert_eq!(world.user(person.user().user_id).await.passkeys, 0);
    let mails = world.mails(person.user().email.as_str()).await;
    let reported = |mail: &Value| {
        let text = mail["text"].as_str().unwrap();
        text.contains("Toutes les clés d’accès")
    };
    assert!(mails.iter().any(reported), "{mails:?}");
}

#[tokio::test]
async fn first_code_by_mail_outside_a_session_removes_passkeys() {
    let world = World::new().await;
    for way in ["reset", "passwordless"] {
        let person = without_mailbox(&world).await;
        let email = person.user().email.as_str();
        let authenticator = Authenticator::registered_by(&person).await;
        let anonymous = world.anonymous();
        match way {
            "reset" => {
                anonymous.ask_to_reset(email, "email").await;
                let code = world.mailed_code(email).await;
                let new = "une lanterne sur le port";
                let payload = json!({
                    "email": email, "code": code, "newPassword": new, "confirmPassword": new,
                });
                anonymous.post("/users/reset-password", payload).await.expect_ok();
            }
            _ => {
                anonymous.ask_to_sign_in(email, "email").await;
                let code = world.mailed_link(email).await;
                let answer = anonymous.get(&format!("/auth/passwordless?code={code}")).await;
                answer.expect_success(Message::LoginSuccess);
            }
        }
        expect_removed(&world, &person, authenticator).await;
    }
}

#[tokio::test]
async fn first_code_by_mail_in_a_session_keeps_passkeys() {
    let world = World::new().await;
    let person = without_mailbox(&world).await;
    let email = person.user().email.as_str();
    let mut authenticator = Authenticator::registered_by(&person).await;
    person.post("/users/email-verification", json!({})).await.expect_ok();
    let code = world.mailed_code(email).await;
    person.verify_email(email, &code).await.expect_success(Message::EmailVerified);
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn later_reset_keeps_passkeys_and_its_mail_names_them() {
    let (world, member) = World::with_member().await;
    let email = member.user().email.as_str();
    let mut authenticator = Authenticator::registered_by(&member).await;
    let anonymous = world.anonymous();
    anonymous.ask_to_reset(email, "email").await;
    let code = world.mailed_code(email).await;
    let new = "une lanterne sur le port";
    let payload =
        json!({ "email": email, "code": code, "newPassword": new, "confirmPassword": new });
    anonymous.post("/users/reset-password", payload).await.expect_success(Message::PasswordChanged);
    assert!(world.mails(email).await[0]["text"].as_str().unwrap().contains("clés d’accès"));
    authenticator.sign_in(&anonymous).await.expect_success(Message::LoginSuccess);
}

#[tokio::test]
async fn administrator_resets_passkeys_with_one_time_passwords() {
    let (world, member) = World::with_member().await;
    let authenticator = Authenticator::registered_by(&member).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let path = format!("/team/{}/otp", member.user().user_id);
    admin.delete(&path).await.expect_success(Message::OtpReset);
    member.get("/passkeys").await.expect_unauthorized();
    let audit = admin.get("/audit").await.expect_ok();
    assert_eq!(
        (&audit["audit"][0]["before"], &audit["audit"][0]["after"]),
        (&json!({ "passkeys": 1 }), &json!({ "passkeys": 0 }))
    );
    expect_removed(&world, &member, authenticator).await;
}

#[tokio::test]
async fn passkeys_removed_at_once_are_deleted_before_the_next_one() {
    let (world, member) = World::with_member().await;
    let mut former = Authenticator::registered_by(&member).await;
    let path = format!("/team/{}/otp", member.user().user_id);
    world.admin().await.delete(&path).await.expect_success(Message::OtpReset);
    let member = world.signed_in(member.user().clone()).await;
    assert_eq!(member.get("/passkeys").await.expect_ok()["passkeys"], json!([]));
    former.register(&member).await.expect_success(Message::PasskeyCreated);
    former.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
    let stored = world.items("records").iter().filter(is_passkey).count();
    assert_eq!(stored, 2, "the passkey and the owner of its credential");
}

#[tokio::test]
async fn late_deletion_leaves_a_credential_that_was_registered_again() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let store = world.settings().setup(world.clock().clone()).unwrap().store;
    let former = store.passkeys(member.user().user_id).await.unwrap();
    store.delete_passkeys(&former).await.unwrap();
    authenticator.register(&member).await.expect_success(Message::PasskeyCreated);
    store.delete_passkeys(&former).await.unwrap();
    authenticator.sign_in(&world.anonymous()).await.expect_success(Message::LoginSuccess);
}

fn is_passkey(item: &&Value) -> bool {
    let has = |key: &str| item[key]["S"].as_str().unwrap().starts_with("PASSKEY");
    has("pk") || has("sk")
}

#[tokio::test]
async fn export_lists_passkeys_and_erasure_deletes_them() {
    let (world, member) = World::with_member().await;
    let mut authenticator = Authenticator::registered_by(&member).await;
    let path = format!("/users/{}", member.user().user_id);
    let export = member.get(&format!("{path}/export")).await.expect_ok();
    assert_eq!(export["export"]["passkeys"], member.get("/passkeys").await.expect_ok()["passkeys"]);
    member
        .json()
        .send(
            Method::DELETE,
            &format!("/api/v1{path}"),
            json!({ "password": PASSWORD }).to_string().into(),
        )
        .await
        .expect_ok();
    world.deliver().await;
    world.sweep().await;
    authenticator.sign_in(&world.anonymous()).await.expect_unauthorized();
    assert_eq!(world.items("records").iter().filter(is_passkey).count(), 0);
}
