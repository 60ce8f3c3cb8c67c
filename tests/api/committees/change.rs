use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join;
use serde_json::json;
use tests::{World, expect_fields};

use super::payload;

async fn created_committee(world: &World) -> (tests::Person, String, serde_json::Value) {
    let admin = world.admin().await;
    let answer = admin.post("/committees", payload("Sfax")).await;
    let committee = answer.expect_success(Message::CommitteeCreated)["committee"].clone();
    let path = format!("/committees/{}", committee["committeeID"].as_str().unwrap());
    (admin, path, committee)
}

#[tokio::test]
async fn only_given_fields_change() {
    let world = World::new().await;
    let (admin, path, before) = created_committee(&world).await;
    let answer = admin.put(&path, json!({ "city": "Sakiet Ezzit", "postalCode": 3021 })).await;
    let after = answer.expect_success(Message::CommitteeUpdated)["committee"].clone();
    let mut expected = before;
    expected["city"] = json!("Sakiet Ezzit");
    expected["postalCode"] = json!(3021);
    assert_eq!(after, expected);
    assert_eq!(admin.get(&path).await.expect_ok()["committee"], expected);
}

#[tokio::test]
async fn optional_fields_can_be_cleared() {
    let world = World::new().await;
    let (admin, path, _) = created_committee(&world).await;
    admin
        .put(
            &path,
            json!({ "secondaryEmail": "deux@example.org", "secondaryPhone": "+21674000102" }),
        )
        .await
        .expect_ok();
    let change = json!({ "VAT": "", "address": "", "secondaryEmail": null, "secondaryPhone": "" });
    let after = admin.put(&path, change).await.expect_ok()["committee"].clone();
    expect_fields(&after, json!({ "VAT": "", "address": "", "secondaryPhone": "" }));
    assert_eq!(after["secondaryEmail"], json!(null));
}

#[tokio::test]
async fn concurrent_changes_of_different_fields_both_apply() {
    let world = World::new().await;
    let (admin, path, _) = created_committee(&world).await;
    for number in 0..10 {
        let (city, region) = (format!("Ville {number}"), format!("Région {number}"));
        let both = join(
            admin.put(&path, json!({ "city": city })),
            admin.put(&path, json!({ "region": region })),
        );
        let (one, other) = world.race(2, both).await;
        one.expect_success(Message::CommitteeUpdated);
        other.expect_success(Message::CommitteeUpdated);
        let committee = admin.get(&path).await.expect_ok()["committee"].clone();
        assert_eq!((&committee["city"], &committee["region"]), (&json!(city), &json!(region)));
    }
}

#[tokio::test]
async fn new_name_moves_committee_in_the_list() {
    let world = World::new().await;
    let (admin, path, _) = created_committee(&world).await;
    admin.put(&path, json!({ "nameLatin": "Ariana" })).await.expect_ok();
    let list = world.anonymous().get("/committees").await.expect_ok();
    assert_eq!(list["committees"][0]["nameLatin"], "Ariana");
    assert_eq!(list["committees"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn super_admin_can_close_and_reopen_own_committee() {
    let (world, admin) = World::with_admin().await;
    let path = format!("/committees/{}", admin.user().committee_id);
    admin.put(&path, json!({ "isActive": false })).await.expect_success(Message::CommitteeUpdated);
    world.anonymous().get(&path).await.expect_error(ErrorCode::CommitteeNotFound);
    assert_eq!(admin.get(&path).await.expect_ok()["committee"]["isActive"], false);
    admin.put(&path, json!({ "isActive": true })).await.expect_success(Message::CommitteeUpdated);
    world.anonymous().get(&path).await.expect_ok();
}

#[tokio::test]
async fn closed_committee_gets_no_further_account() {
    let world = World::new().await;
    let (admin, path, committee) = created_committee(&world).await;
    let id = &committee["committeeID"];
    let member = world.account(Profile::Member).await;
    admin.put(&path, json!({ "isActive": false })).await.expect_success(Message::CommitteeUpdated);
    let payload = json!({
        "name": "Amel", "lastName": "Trabelsi", "email": "amel@example.org", "password": "clé de sol et fa", "committeeID": id,
    });
    let answer = world.anonymous().post("/users/register", payload).await;
    answer.expect_field_error("committeeID", ErrorCode::CommitteeInvalid);
    let path = format!("/team/{}", member.user_id);
    let answer = admin.put(&path, json!({ "committeeID": id })).await;
    answer.expect_field_error("committeeID", ErrorCode::CommitteeInvalid);
}

#[tokio::test]
async fn unknown_committee_is_reported_after_rights_and_fields() {
    let (world, admin) = World::with_admin().await;
    for id in ["x", "0198c0de-0000-7000-8000-000000000001"] {
        let path = format!("/committees/{id}");
        admin.put(&path, json!({ "city": "" })).await.expect_error(ErrorCode::FieldRequired);
        let answer = admin.put(&path, json!({ "city": "Sfax" })).await;
        answer.expect_error(ErrorCode::CommitteeNotFound);
        admin.put(&path, json!({})).await.expect_error(ErrorCode::CommitteeNotFound);
        world
            .person(Profile::CommitteeAdmin)
            .await
            .put(&path, json!([]))
            .await
            .expect_error(ErrorCode::Forbidden);
    }
}

#[tokio::test]
async fn creation_and_change_are_audited_with_masked_contacts() {
    let world = World::new().await;
    let (admin, path, committee) = created_committee(&world).await;
    let change = json!({ "city": "Sakiet Ezzit", "primaryEmail": "autre@example.org" });
    for _ in 0..2 {
        admin.put(&path, change.clone()).await.expect_success(Message::CommitteeUpdated);
    }
    let audit = admin.get("/audit").await.expect_ok()["audit"].clone();
    let [updated, created] = audit.as_array().unwrap().as_slice() else {
        panic!("{audit}");
    };
    assert_eq!(
        (&updated["action"], &created["action"]),
        (&json!("COMMITTEE_UPDATED"), &json!("COMMITTEE_CREATED"))
    );
    assert_eq!(
        (&updated["targetID"], &updated["committeeID"]),
        (&committee["committeeID"], &committee["committeeID"])
    );
    assert_eq!(updated["before"], json!({ "city": committee["city"], "primaryEmail": "***" }));
    assert_eq!(updated["after"], json!({ "city": "Sakiet Ezzit", "primaryEmail": "***" }));
    assert_eq!(created["before"], json!(null));
    assert_eq!(created["after"]["nameLatin"], committee["nameLatin"]);
}
