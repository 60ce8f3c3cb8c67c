//! `/sms/opt-outs/{number}`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::{Value, json};
use tests::{NewPerson, World, expect_fields};

use super::NUMBER;

#[tokio::test]
async fn opt_out_is_added_once_shown_and_removed() {
    let (world, admin) = World::with_person(Profile::CommitteeAdmin).await;
    for written in [NUMBER, "%2B21620123456", "21620123456"] {
        let path = format!("/sms/opt-outs/{written}");
        admin.get(&path).await.expect_error(ErrorCode::OptOutNotFound);
        let noted = admin.put(&path, json!({})).await.expect_ok()["optOut"].clone();
        assert_eq!(
            (&noted["number"], &noted["committeeID"]),
            (&json!(NUMBER), &json!(admin.user().committee_id))
        );
        assert_eq!(noted["createdBy"], json!(admin.user().user_id));
        world.clock().advance(Duration::from_secs(1));
        let again = admin.put(&path, json!({})).await.expect_success(Message::OptOutAdded);
        assert_eq!(again["optOut"], noted, "the first entry is kept");
        assert_eq!(admin.get(&path).await.expect_ok()["optOut"], noted);
        for _ in 0..2 {
            admin.delete(&path).await.expect_success(Message::OptOutRemoved);
        }
    }
}

#[tokio::test]
async fn malformed_number_is_reported() {
    let (_, admin) = World::with_person(Profile::CommitteeAdmin).await;
    for text in ["x", "+2160", "20123456", "+216%2020123456", "%00"] {
        let path = format!("/sms/opt-outs/{text}");
        admin.put(&path, json!({})).await.expect_field_error("number", ErrorCode::FieldFormat);
        admin.get(&path).await.expect_error(ErrorCode::OptOutNotFound);
        admin.delete(&path).await.expect_field_error("number", ErrorCode::FieldFormat);
    }
}

#[tokio::test]
async fn opt_out_lists_are_per_committee_and_super_admins_see_all() {
    let world = World::new().await;
    let (near, root) = (world.person(Profile::CommitteeAdmin).await, world.admin().await);
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let far = world.person(NewPerson::with(Profile::CommitteeAdmin).of(elsewhere)).await;
    let path = format!("/sms/opt-outs/{NUMBER}");
    far.put(&path, json!({})).await.expect_success(Message::OptOutAdded);
    near.get(&path).await.expect_error(ErrorCode::OptOutNotFound);
    let answer = near.get(&format!("{path}?committeeID={elsewhere}")).await;
    answer.expect_error(ErrorCode::OptOutNotFound);
    root.get(&path).await.expect_error(ErrorCode::OptOutNotFound);
    root.get(&format!("{path}?committeeID={elsewhere}")).await.expect_ok();
    let noted = root.put(&path, json!({})).await.expect_success(Message::OptOutAdded);
    assert_eq!(noted["optOut"]["committeeID"], Value::Null, "the list for all committees");
    root.delete(&format!("{path}?committeeID={elsewhere}")).await.expect_ok();
    far.get(&path).await.expect_error(ErrorCode::OptOutNotFound);
    root.get(&path).await.expect_ok();
    root.get(&format!("{path}?committeeID=x")).await.expect_error(ErrorCode::CommitteeNotFound);
    root.get(&format!("{path}?committeeID=0198c0de-0000-7000-8000-000000000001"))
        .await
        .expect_error(ErrorCode::CommitteeNotFound);
}

#[tokio::test]
async fn changes_of_opt_outs_are_audited_once_without_the_number() {
    let (_, admin) = World::with_person(Profile::CommitteeAdmin).await;
    let path = format!("/sms/opt-outs/{NUMBER}");
    for _ in 0..2 {
        admin.put(&path, json!({})).await.expect_success(Message::OptOutAdded);
    }
    for _ in 0..2 {
        admin.delete(&path).await.expect_success(Message::OptOutRemoved);
    }
    let audit = admin.get("/audit").await.expect_ok()["audit"].clone();
    let values = json!({ "allCommittees": false, "number": "***56" });
    let committee = json!(admin.user().committee_id);
    let expected =
        [("OPT_OUT_REMOVED", &values, &Value::Null), ("OPT_OUT_ADDED", &Value::Null, &values)];
    assert_eq!(audit.as_array().unwrap().len(), expected.len(), "{audit}");
    for (entry, (action, before, after)) in audit.as_array().unwrap().iter().zip(expected) {
        expect_fields(entry, json!({ "action": action, "before": before, "after": after }));
        assert_eq!((&entry["targetType"], &entry["targetID"]), (&json!("OPT_OUTS"), &committee));
    }
}

#[tokio::test]
async fn opt_out_of_all_committees_is_audited_in_callers_committee() {
    let (_, admin) = World::with_admin().await;
    admin.put(&format!("/sms/opt-outs/{NUMBER}"), json!({})).await.expect_ok();
    let audit = admin.get("/audit").await.expect_ok()["audit"].clone();
    let [entry] = audit.as_array().unwrap().as_slice() else {
        panic!("{audit}");
    };
    let committee = json!(admin.user().committee_id);
    assert_eq!((&entry["targetID"], &entry["committeeID"]), (&committee, &committee));
    assert_eq!(entry["after"], json!({ "allCommittees": true, "number": "***56" }));
}
