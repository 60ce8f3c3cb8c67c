use common::{ErrorCode, Message};
use serde_json::json;
use tests::World;

#[tokio::test]
async fn a_texted_code_proves_the_number_and_another_number_loses_the_proof() {
    let world = World::new().await;
    let member = world.member().await;
    let own = format!("/users/{}", member.user().user_id);
    member
        .post("/users/phone-verification", json!({}))
        .await
        .refuses_field("phone", ErrorCode::FieldRequired);
    member
        .put(&own, json!({ "phoneCode": "216", "phone": "20123456" }))
        .await
        .tells(Message::UserUpdated);
    member
        .post("/users/phone-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    let code = world.texted_code("+21620123456").await;
    member
        .put("/users/phone-verification", json!({ "code": "000000x" }))
        .await
        .refuses(ErrorCode::VerificationInvalid);
    member
        .put("/users/phone-verification", json!({ "code": code }))
        .await
        .tells(Message::PhoneVerified);
    assert!(world.user(member.user().user_id).await.is_phone_verified);
    member
        .put("/users/phone-verification", json!({ "code": code }))
        .await
        .refuses(ErrorCode::VerificationInvalid);
    member
        .put(&own, json!({ "phoneCode": "216", "phone": "20123457" }))
        .await
        .tells(Message::UserUpdated);
    assert!(!world.user(member.user().user_id).await.is_phone_verified);
}

#[tokio::test]
async fn a_code_for_one_number_does_not_prove_another() {
    let world = World::new().await;
    let member = world.member().await;
    let own = format!("/users/{}", member.user().user_id);
    member
        .put(&own, json!({ "phoneCode": "216", "phone": "20123456" }))
        .await
        .tells(Message::UserUpdated);
    member
        .post("/users/phone-verification", json!({}))
        .await
        .tells(Message::VerificationSent);
    let code = world.texted_code("+21620123456").await;
    member
        .put(&own, json!({ "phoneCode": "216", "phone": "20123457" }))
        .await
        .tells(Message::UserUpdated);
    member
        .put("/users/phone-verification", json!({ "code": code }))
        .await
        .refuses(ErrorCode::VerificationInvalid);
}

#[tokio::test]
async fn a_number_gets_five_codes_a_day_whoever_asks() {
    let world = World::with(&[("MESSAGE_INTERVAL_SECONDS", "1")]).await;
    for _ in 0..7 {
        let member = world.member().await;
        let own = format!("/users/{}", member.user().user_id);
        member
            .put(&own, json!({ "phoneCode": "216", "phone": "20123456" }))
            .await
            .tells(Message::UserUpdated);
        member
            .post("/users/phone-verification", json!({}))
            .await
            .tells(Message::VerificationSent);
    }
    assert_eq!(world.texts("+21620123456").await.len(), 5);
}
