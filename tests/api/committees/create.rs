use common::{ErrorCode, Message};
use serde_json::json;
use tests::{World, expect_fields};

use super::payload;

#[tokio::test]
async fn super_admin_can_create_committee() {
    let world = World::new().await;
    let body = world.admin().await.post("/committees", payload("Sfax")).await.expect_created();
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
    let answer = world.admin().await.post("/committees", payload).await;
    let committee = answer.expect_success(Message::CommitteeCreated)["committee"].clone();
    expect_fields(&committee, json!({ "VAT": "", "address": "", "secondaryPhone": "" }));
    assert_eq!(json!([committee["secondaryEmail"], committee["isActive"]]), json!([null, false]));
}

#[tokio::test]
async fn missing_fields_are_all_reported() {
    let world = World::new().await;
    let answer = world.admin().await.post("/committees", json!({})).await;
    answer.expect_error(ErrorCode::Validation);
    let fields: Vec<String> = answer.errors().into_iter().map(|(field, _)| field).collect();
    let expected =
        "nameArabe nameLatin type dateOfEst region city postalCode primaryEmail primaryPhone";
    assert_eq!(fields.join(" "), expected);
}
