use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, PASSWORD, World};

#[tokio::test]
async fn texted_code_verifies_the_number_and_a_new_number_is_unverified() {
    let world = World::new().await;
    let member = world.member().await;
    let own = format!("/users/{}", member.user().user_id);
    member
        .post("/users/phone-verification", json!({}))
        .await
        .expect_field_error("phone", ErrorCode::FieldRequired);
    member
        .put(
            &own,
            json!({ "password": PASSWORD, "phoneCode": "216", "phone": "20123456" }),
        )
        .await
        .expect_success(Message::UserUpdated);
    member
        .post("/users/phone-verification", json!({}))
        .await
        .expect_success(Message::VerificationSent);
    let code = world.texted_code("+21620123456").await;
    member
        .put("/users/phone-verification", json!({ "code": "000000x" }))
        .await
        .expect_error(ErrorCode::VerificationInvalid);
    member
        .put("/users/phone-verification", json!({ "code": code }))
        .await
        .expect_success(Message::PhoneVerified);
    assert!(world.user(member.user().user_id).await.is_phone_verified);
    member
        .put("/users/phone-verification", json!({ "code": code }))
        .await
        .expect_error(ErrorCode::VerificationInvalid);
    member
        .put(
            &own,
            json!({ "password": PASSWORD, "phoneCode": "216", "phone": "20123457" }),
        )
        .await
        .expect_success(Message::UserUpdated);
    assert!(!world.user(member.user().user_id).await.is_phone_verified);
}

#[tokio::test]
async fn code_for_one_number_does_not_verify_another() {
    let world = World::new().await;
    let member = world.member().await;
    let own = format!("/users/{}", member.user().user_id);
    member
        .put(
            &own,
            json!({ "password": PASSWORD, "phoneCode": "216", "phone": "20123456" }),
        )
        .await
        .expect_success(Message::UserUpdated);
    member
        .post("/users/phone-verification", json!({}))
        .await
        .expect_success(Message::VerificationSent);
    let code = world.texted_code("+21620123456").await;
    member
        .put(
            &own,
            json!({ "password": PASSWORD, "phoneCode": "216", "phone": "20123457" }),
        )
        .await
        .expect_success(Message::UserUpdated);
    member
        .put("/users/phone-verification", json!({ "code": code }))
        .await
        .expect_error(ErrorCode::VerificationInvalid);
}

#[tokio::test]
async fn number_gets_at_most_five_codes_a_day() {
    let world = World::with(&[("MESSAGE_INTERVAL_SECONDS", "1")]).await;
    for _ in 0..7 {
        let member = world.member().await;
        let own = format!("/users/{}", member.user().user_id);
        member
            .put(
                &own,
                json!({ "password": PASSWORD, "phoneCode": "216", "phone": "20123456" }),
            )
            .await
            .expect_success(Message::UserUpdated);
        member
            .post("/users/phone-verification", json!({}))
            .await
            .expect_success(Message::VerificationSent);
    }
    assert_eq!(world.texts("+21620123456").await.len(), 5);
}

#[tokio::test]
async fn unverified_account_cannot_verify_a_number() {
    let world = World::new().await;
    let new_person = NewPerson::with(Profile::Member).unverified();
    let person = world.person(new_person.with_phone("216", "20123456")).await;
    let path = "/users/phone-verification";
    person
        .post(path, json!({}))
        .await
        .expect_error(ErrorCode::AccountNotVerified);
    person
        .put(path, json!({ "code": "123456" }))
        .await
        .expect_error(ErrorCode::AccountNotVerified);
    assert_eq!(world.texts("+21620123456").await.len(), 0);
}

#[tokio::test]
async fn number_that_is_not_a_permitted_mobile_gets_no_code() {
    let world = World::new().await;
    for (code, number) in [("33", "612345678"), ("216", "71123456")] {
        let new_person = NewPerson::with(Profile::Member).with_phone(code, number);
        let person = world.person(new_person).await;
        person
            .post("/users/phone-verification", json!({}))
            .await
            .expect_field_error("phone", ErrorCode::PhoneNotReachable);
        assert_eq!(world.texts(&format!("+{code}{number}")).await.len(), 0);
    }
    // A number that was verified while its country was permitted gets its codes by mail.
    let new_person = NewPerson::with(Profile::Member).with_phone("33", "612345679");
    let person = world.person(new_person).await;
    let email = person.user().email.as_str();
    let request = json!({ "email": email, "sendMethode": "sms" });
    world
        .anonymous()
        .post("/auth/passwordless", request)
        .await
        .expect_success(Message::PasswordlessSent);
    assert_eq!(world.texts("+33612345679").await.len(), 0);
    assert_eq!(world.mails(email).await.len(), 1);
}
