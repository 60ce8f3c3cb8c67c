use common::{ErrorCode, Message};
use serde_json::json;
use tests::World;

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
        .put(&own, json!({ "phoneCode": "216", "phone": "20123456" }))
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
        .put(&own, json!({ "phoneCode": "216", "phone": "20123457" }))
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
        .put(&own, json!({ "phoneCode": "216", "phone": "20123456" }))
        .await
        .expect_success(Message::UserUpdated);
    member
        .post("/users/phone-verification", json!({}))
        .await
        .expect_success(Message::VerificationSent);
    let code = world.texted_code("+21620123456").await;
    member
        .put(&own, json!({ "phoneCode": "216", "phone": "20123457" }))
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
            .put(&own, json!({ "phoneCode": "216", "phone": "20123456" }))
            .await
            .expect_success(Message::UserUpdated);
        member
            .post("/users/phone-verification", json!({}))
            .await
            .expect_success(Message::VerificationSent);
    }
    assert_eq!(world.texts("+21620123456").await.len(), 5);
}
