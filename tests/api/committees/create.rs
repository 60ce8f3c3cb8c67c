use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::json;
use tests::{Someone, World};

use super::wish;

#[tokio::test]
async fn a_super_admin_founds_a_committee() {
    let world = World::new().await;
    let body = world
        .admin()
        .await
        .post("/committees", wish("Sfax"))
        .await
        .tells(Message::CommitteeCreated);
    let committee = body["committee"].as_object().unwrap();
    assert_eq!(committee.len(), 15);
    assert_eq!(committee["dateOfEst"], "1987-04-12T00:00:00.000Z");
    assert_eq!(committee["primaryEmail"], "contact.sfax@example.org");
    assert_eq!(committee["secondaryEmail"], json!(null));
    assert_eq!(
        (&committee["isActive"], &committee["postalCode"]),
        (&json!(true), &json!(3000))
    );
    let id = committee["committeeID"].as_str().unwrap();
    let shown = world
        .stranger()
        .get(&format!("/committees/{id}"))
        .await
        .shows();
    assert_eq!(shown["committee"]["nameLatin"], "Sfax");
}

#[tokio::test]
async fn what_is_optional_has_its_empty_form() {
    let world = World::new().await;
    let mut wish = wish("Sfax");
    for field in ["VAT", "address", "secondaryEmail", "secondaryPhone"] {
        wish.as_object_mut().unwrap().remove(field);
    }
    wish["isActive"] = json!(false);
    let committee = world
        .admin()
        .await
        .post("/committees", wish)
        .await
        .tells(Message::CommitteeCreated)["committee"]
        .clone();
    assert_eq!(
        (
            &committee["VAT"],
            &committee["address"],
            &committee["secondaryPhone"]
        ),
        (&json!(""), &json!(""), &json!(""))
    );
    assert_eq!(
        (&committee["secondaryEmail"], &committee["isActive"]),
        (&json!(null), &json!(false))
    );
}

#[tokio::test]
async fn nobody_else_does_whatever_was_granted() {
    let world = World::new().await;
    world
        .stranger()
        .post("/committees", wish("Sfax"))
        .await
        .refuses(ErrorCode::BadAuthCombination);
    for profile in [Profile::Member, Profile::Trainer, Profile::CommitteeAdmin] {
        let person = world
            .person(Someone::with(profile).granted(&Grant::ALL))
            .await;
        person
            .post("/committees", json!([]))
            .await
            .refuses(ErrorCode::Forbidden);
    }
    let unverified = world
        .person(Someone::with(Profile::SuperAdmin).unverified())
        .await;
    unverified
        .post("/committees", wish("Sfax"))
        .await
        .refuses(ErrorCode::AccountNotVerified);
}

#[tokio::test]
async fn each_bad_field_is_named_with_its_reason() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = world.admin().await;
    for (field, value, refusal) in [
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
        (
            "postalCode",
            json!(18_446_744_073_709_551_615_u64),
            ErrorCode::FieldValue,
        ),
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
        let mut wish = wish("Sfax");
        wish[field] = value;
        admin
            .post("/committees", wish)
            .await
            .refuses_field(field, refusal);
    }
}

#[tokio::test]
async fn all_that_is_missing_is_named() {
    let world = World::new().await;
    let answer = world.admin().await.post("/committees", json!({})).await;
    answer.refuses(ErrorCode::Validation);
    let fields: Vec<String> = answer
        .errors()
        .into_iter()
        .map(|(field, _)| field)
        .collect();
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
