//! `/sms/opt-outs/{number}`.

use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::{Value, json};
use tests::{Someone, World};

use super::NUMBER;

#[tokio::test]
async fn a_number_is_noted_once_shown_and_taken_off() {
    let world = World::new().await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    for written in [NUMBER, "%2B21620123456", "21620123456"] {
        let path = format!("/sms/opt-outs/{written}");
        admin.get(&path).await.refuses(ErrorCode::OptOutNotFound);
        let noted = admin
            .put(&path, json!({}))
            .await
            .tells(Message::OptOutAdded)["optOut"]
            .clone();
        assert_eq!(
            (&noted["number"], &noted["committeeID"]),
            (&json!(NUMBER), &json!(admin.user().committee_id))
        );
        assert_eq!(noted["createdBy"], json!(admin.user().user_id));
        world.clock().advance(Duration::from_secs(1));
        let again = admin
            .put(&path, json!({}))
            .await
            .tells(Message::OptOutAdded);
        assert_eq!(again["optOut"], noted, "as it was noted first");
        assert_eq!(admin.get(&path).await.shows()["optOut"], noted);
        for _ in 0..2 {
            admin.delete(&path).await.tells(Message::OptOutRemoved);
        }
    }
}

#[tokio::test]
async fn what_is_no_number_is_told_so() {
    let world = World::new().await;
    let admin = world.person(Someone::with(Profile::CommitteeAdmin)).await;
    for text in ["x", "+2160", "20123456", "+216%2020123456", "%00"] {
        let path = format!("/sms/opt-outs/{text}");
        admin
            .put(&path, json!({}))
            .await
            .refuses_field("number", ErrorCode::FieldFormat);
        admin.get(&path).await.refuses(ErrorCode::OptOutNotFound);
        admin
            .delete(&path)
            .await
            .refuses_field("number", ErrorCode::FieldFormat);
    }
}

#[tokio::test]
async fn each_committee_has_its_list_and_a_super_admin_all_of_them() {
    let world = World::new().await;
    let (near, root) = (
        world.person(Someone::with(Profile::CommitteeAdmin)).await,
        world.admin().await,
    );
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let far = world
        .person(Someone::with(Profile::CommitteeAdmin).of(elsewhere))
        .await;
    let path = format!("/sms/opt-outs/{NUMBER}");
    far.put(&path, json!({})).await.tells(Message::OptOutAdded);
    near.get(&path).await.refuses(ErrorCode::OptOutNotFound);
    near.get(&format!("{path}?committeeID={elsewhere}"))
        .await
        .refuses(ErrorCode::OptOutNotFound);
    root.get(&path).await.refuses(ErrorCode::OptOutNotFound);
    root.get(&format!("{path}?committeeID={elsewhere}"))
        .await
        .shows();
    let noted = root.put(&path, json!({})).await.tells(Message::OptOutAdded);
    assert_eq!(
        noted["optOut"]["committeeID"],
        Value::Null,
        "for all of them"
    );
    root.delete(&format!("{path}?committeeID={elsewhere}"))
        .await
        .tells(Message::OptOutRemoved);
    far.get(&path).await.refuses(ErrorCode::OptOutNotFound);
    root.get(&path).await.shows();
    root.get(&format!("{path}?committeeID=x"))
        .await
        .refuses(ErrorCode::CommitteeNotFound);
    root.get(&format!(
        "{path}?committeeID=0198c0de-0000-7000-8000-000000000001"
    ))
    .await
    .refuses(ErrorCode::CommitteeNotFound);
}
