use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join;
use serde_json::json;
use tests::{Someone, World};

use super::wish;

async fn founded(world: &World) -> (tests::Person, String, serde_json::Value) {
    let admin = world.admin().await;
    let committee = admin
        .post("/committees", wish("Sfax"))
        .await
        .tells(Message::CommitteeCreated)["committee"]
        .clone();
    let path = format!("/committees/{}", committee["committeeID"].as_str().unwrap());
    (admin, path, committee)
}

#[tokio::test]
async fn only_what_is_given_changes() {
    let world = World::new().await;
    let (admin, path, before) = founded(&world).await;
    let after = admin
        .put(&path, json!({ "city": "Sakiet Ezzit", "postalCode": 3021 }))
        .await
        .tells(Message::CommitteeUpdated)["committee"]
        .clone();
    let mut expected = before;
    expected["city"] = json!("Sakiet Ezzit");
    expected["postalCode"] = json!(3021);
    assert_eq!(after, expected);
    assert_eq!(admin.get(&path).await.shows()["committee"], expected);
}

#[tokio::test]
async fn nothing_given_changes_nothing() {
    let world = World::new().await;
    let (admin, path, before) = founded(&world).await;
    let after = admin
        .put(&path, json!({ "committeeID": "x", "unknown": 1 }))
        .await
        .tells(Message::CommitteeUpdated)["committee"]
        .clone();
    assert_eq!(after, before);
}

#[tokio::test]
async fn what_may_be_empty_can_be_emptied() {
    let world = World::new().await;
    let (admin, path, _) = founded(&world).await;
    admin
        .put(
            &path,
            json!({ "secondaryEmail": "deux@example.org", "secondaryPhone": "+21674000102" }),
        )
        .await
        .tells(Message::CommitteeUpdated);
    let change = json!({ "VAT": "", "address": "", "secondaryEmail": null, "secondaryPhone": "" });
    let after = admin
        .put(&path, change)
        .await
        .tells(Message::CommitteeUpdated)["committee"]
        .clone();
    assert_eq!(
        (&after["VAT"], &after["address"], &after["secondaryPhone"]),
        (&json!(""), &json!(""), &json!(""))
    );
    assert_eq!(after["secondaryEmail"], json!(null));
}

#[tokio::test]
async fn two_who_change_different_fields_both_keep_their_change() {
    let world = World::new().await;
    let (admin, path, _) = founded(&world).await;
    for number in 0..10 {
        let (city, region) = (format!("Ville {number}"), format!("Région {number}"));
        let (one, other) = join(
            admin.put(&path, json!({ "city": city })),
            admin.put(&path, json!({ "region": region })),
        )
        .await;
        one.tells(Message::CommitteeUpdated);
        other.tells(Message::CommitteeUpdated);
        let committee = admin.get(&path).await.shows()["committee"].clone();
        assert_eq!(
            (&committee["city"], &committee["region"]),
            (&json!(city), &json!(region))
        );
    }
}

#[tokio::test]
async fn a_new_name_moves_it_in_the_list() {
    let world = World::new().await;
    let (admin, path, _) = founded(&world).await;
    admin
        .put(&path, json!({ "nameLatin": "Ariana" }))
        .await
        .tells(Message::CommitteeUpdated);
    let list = world.stranger().get("/committees").await.shows();
    assert_eq!(list["committees"][0]["nameLatin"], "Ariana");
    assert_eq!(list["committees"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_super_admin_closes_and_opens_even_his_own() {
    let world = World::new().await;
    let admin = world.admin().await;
    let path = format!("/committees/{}", admin.user().committee_id);
    admin
        .put(&path, json!({ "isActive": false }))
        .await
        .tells(Message::CommitteeUpdated);
    world
        .stranger()
        .get(&path)
        .await
        .refuses(ErrorCode::CommitteeNotFound);
    assert_eq!(
        admin.get(&path).await.shows()["committee"]["isActive"],
        false
    );
    admin
        .put(&path, json!({ "isActive": true }))
        .await
        .tells(Message::CommitteeUpdated);
    world.stranger().get(&path).await.shows();
}

#[tokio::test]
async fn what_is_not_there_is_told_after_everything_else() {
    let world = World::new().await;
    let admin = world.admin().await;
    for id in ["x", "0198c0de-0000-7000-8000-000000000001"] {
        let path = format!("/committees/{id}");
        admin
            .put(&path, json!({ "city": "" }))
            .await
            .refuses(ErrorCode::FieldRequired);
        admin
            .put(&path, json!({ "city": "Sfax" }))
            .await
            .refuses(ErrorCode::CommitteeNotFound);
        admin
            .put(&path, json!({}))
            .await
            .refuses(ErrorCode::CommitteeNotFound);
        world
            .person(Someone::with(Profile::CommitteeAdmin))
            .await
            .put(&path, json!([]))
            .await
            .refuses(ErrorCode::Forbidden);
    }
}

#[tokio::test]
async fn a_required_field_cannot_be_emptied() {
    let world = World::new().await;
    let (admin, path, _) = founded(&world).await;
    for (field, value, refusal) in [
        ("nameLatin", json!(null), ErrorCode::FieldType),
        ("nameLatin", json!(" "), ErrorCode::FieldRequired),
        ("primaryEmail", json!(""), ErrorCode::FieldRequired),
        ("primaryPhone", json!(""), ErrorCode::FieldRequired),
        ("postalCode", json!(null), ErrorCode::FieldType),
    ] {
        let mut change = json!({});
        change[field] = value;
        admin.put(&path, change).await.refuses_field(field, refusal);
    }
}
