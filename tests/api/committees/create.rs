use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::json;
use tests::{NewPerson, World};

use super::payload;

#[tokio::test]
async fn super_admin_can_create_committee() {
    let world = World::new().await;
    let body = world
        .admin()
        .await
        .post("/committees", payload("Sfax"))
        .await
        .expect_success(Message::CommitteeCreated);
    let committee = body["committee"].as_object().unwrap();
    assert_eq!(committee.len(), 15);
    assert_eq!(committee["dateOfEst"], "1987-04-12T00:00:00.000Z");
    assert_eq!(committee["primaryEmail"], "contact.sfax@example.org");
    assert_eq!(committee["secondaryEmail"], json!(null));
    assert_eq!((&committee["isActive"], &committee["postalCode"]), (&json!(true), &json!(3000)));
    let id = committee["committeeID"].as_str().unwrap();
    let response = world.anonymous().get(&format!("/committees/{id}")).await.expect_ok();
    assert_eq!(response["committee"]["nameLatin"], "Sfax");
}

#[tokio::test]
async fn optional_fields_get_their_empty_values() {
    let world = World::new().await;
    let mut payload = payload("Sfax");
    for field in ["VAT", "address", "secondaryEmail", "secondaryPhone"] {
        payload.as_object_mut().unwrap().remove(field);
    }
    payload["isActive"] = json!(false);
    let committee = world
        .admin()
        .await
        .post("/committees", payload)
        .await
        .expect_success(Message::CommitteeCreated)["committee"]
        .clone();
    assert_eq!(
        (&committee["VAT"], &committee["address"], &committee["secondaryPhone"]),
        (&json!(""), &json!(""), &json!(""))
    );
    assert_eq!(
        (&committee["secondaryEmail"], &committee["isActive"]),
        (&json!(null), &json!(false))
    );
}

#[tokio::test]
async fn other_profiles_cannot_create_committee_despite_grants() {
    let world = World::new().await;
    world
        .anonymous()
        .post("/committees", payload("Sfax"))
        .await
        .expect_error(ErrorCode::BadAuthCombination);
    for profile in [Profile::Member, Profile::Trainer, Profile::CommitteeAdmin] {
        let person = world.person(NewPerson::with(profile).granted(&Grant::ALL)).await;
        person.post("/committees", json!([])).await.expect_error(ErrorCode::Forbidden);
    }
    let unverified = world.person(NewPerson::with(Profile::SuperAdmin).unverified()).await;
    unverified
        .post("/committees", payload("Sfax"))
        .await
        .expect_error(ErrorCode::AccountNotVerified);
}

#[tokio::test]
async fn invalid_field_is_reported_with_its_error_code() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = world.admin().await;
    for (field, value, error_code) in [
        ("nameArabe", json!(""), ErrorCode::FieldRequired),
        ("nameLatin", json!("x".repeat(201)), ErrorCode::FieldLength),
        ("nameLatin", json!("a\tb"), ErrorCode::FieldFormat),
        ("type", json!("regional"), ErrorCode::FieldFormat),
        ("type", json!("TOO_LONG_A_CODE"), ErrorCode::FieldLength),
        ("dateOfEst", json!("yesterday"), ErrorCode::FieldFormat),
        ("dateOfEst", json!("1987-02-30"), ErrorCode::FieldFormat),
        ("dateOfEst", json!(1987), ErrorCode::FieldType),
        ("VAT", json!(null), ErrorCode::FieldType),
        ("VAT", json!("x".repeat(31)), ErrorCode::FieldLength),
        ("address", json!("x".repeat(301)), ErrorCode::FieldLength),
        ("region", json!(null), ErrorCode::FieldRequired),
        ("city", json!("x".repeat(101)), ErrorCode::FieldLength),
        ("postalCode", json!("3000"), ErrorCode::FieldType),
        ("postalCode", json!(3000.5), ErrorCode::FieldType),
        ("postalCode", json!(-1), ErrorCode::FieldValue),
        ("postalCode", json!(100_000), ErrorCode::FieldValue),
        ("postalCode", json!(18_446_744_073_709_551_615_u64), ErrorCode::FieldValue),
        ("isActive", json!("true"), ErrorCode::FieldType),
        ("isActive", json!(null), ErrorCode::FieldType),
        ("primaryEmail", json!("x"), ErrorCode::EmailInvalid),
        ("secondaryEmail", json!("x"), ErrorCode::EmailInvalid),
        ("secondaryEmail", json!(5), ErrorCode::FieldType),
        ("primaryPhone", json!("74000101"), ErrorCode::FieldFormat),
        ("primaryPhone", json!("+2161"), ErrorCode::FieldValue),
        ("secondaryPhone", json!(null), ErrorCode::FieldType),
        ("secondaryPhone", json!("+999123456"), ErrorCode::FieldValue),
    ] {
        let mut payload = payload("Sfax");
        payload[field] = value;
        admin.post("/committees", payload).await.expect_field_error(field, error_code);
    }
}

#[tokio::test]
async fn missing_fields_are_all_reported() {
    let world = World::new().await;
    let answer = world.admin().await.post("/committees", json!({})).await;
    answer.expect_error(ErrorCode::Validation);
    let fields: Vec<String> = answer.errors().into_iter().map(|(field, _)| field).collect();
    assert_eq!(
        fields,
        [
            "nameArabe",
            "nameLatin",
            "type",
            "dateOfEst",
            "region",
            "city",
            "postalCode",
            "primaryEmail",
            "primaryPhone"
        ]
    );
}
