use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::json;
use tests::{NewPerson, World};

use super::{created_course, draft, id_of, payload, published, question};

const CHOSEN: &str = "0198C0DE-0000-7000-8000-00000000000A";

#[tokio::test]
async fn omitted_fields_are_cleared() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let mut full = payload("Soudure");
    full["price"] = json!(30);
    full["currency"] = json!("EUR");
    let before = created_course(&trainer, full).await;
    let path = format!("/courses/{}", id_of(&before));
    let body = json!({ "courseTitle": "Soudure", "state": "PUBLISHED", "createdBy": "x", "questionCount": 7, "courseID": "x" });
    let after = trainer.put(&path, body).await.expect_ok()["course"].clone();
    let mut expected = before;
    for field in ["description", "price", "courseType", "sectionOfMatter", "contactEmail"] {
        expected[field] = json!(null);
    }
    expected["currency"] = json!("TND");
    expected["version"] = json!(2);
    expected["updatedAt"] = after["updatedAt"].clone();
    assert_eq!(after, expected);
    assert_eq!(trainer.get(&path).await.expect_ok()["course"], expected);
}

#[tokio::test]
async fn client_may_choose_the_id_of_a_new_course() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{CHOSEN}");
    let created = trainer.put(&path, payload("Soudure")).await.expect_created()["course"].clone();
    assert_eq!(
        (created["courseID"].as_str(), &created["state"]),
        (Some(CHOSEN.to_lowercase().as_str()), &json!("DRAFT"))
    );
    trainer.put(&path, payload("Brasage")).await.expect_success(Message::CourseUpdated);
    for id in ["x", "00000000-0000-0000-0000-000000000000", "0198c0de000070008000000000000001"] {
        let answer = trainer.put(&format!("/courses/{id}"), payload("Soudure")).await;
        answer.expect_error(ErrorCode::CourseNotFound);
    }
}

#[tokio::test]
async fn twenty_concurrent_writers_with_one_version_one_succeeds() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let writers = (0..20).map(|number| {
        let (trainer, path) = (trainer.clone(), path.clone());
        let mut body = payload(&format!("Soudure {number}"));
        body["version"] = json!(1);
        body["courseSubTitle"] = json!(format!("Niveau {number}"));
        tokio::spawn(async move { trainer.put(&path, body).await })
    });
    let answers: Vec<_> =
        world.race(2, join_all(writers)).await.into_iter().map(Result::unwrap).collect();
    let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(
        (
            statuses.iter().filter(|status| **status == 200).count(),
            statuses.iter().filter(|status| **status == 412).count()
        ),
        (1, 19)
    );
    let winner =
        answers.iter().find(|answer| answer.status == 200).unwrap().json()["course"].clone();
    assert_eq!(trainer.get(&path).await.expect_ok()["course"], winner);
    assert_eq!(
        winner["courseTitle"].as_str().unwrap().split(' ').nth(1),
        winner["courseSubTitle"].as_str().unwrap().split(' ').nth(1)
    );
}

#[tokio::test]
async fn twenty_concurrent_creators_of_one_course_one_succeeds() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{CHOSEN}");
    let writers = (0..20).map(|number| {
        let (trainer, path) = (trainer.with("if-none-match", "*"), path.clone());
        tokio::spawn(async move {
            trainer.put(&path, payload(&format!("Soudure {number}"))).await.status
        })
    });
    let statuses: Vec<u16> =
        world.race(2, join_all(writers)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(
        (
            statuses.iter().filter(|status| **status == 201).count(),
            statuses.iter().filter(|status| **status == 412).count()
        ),
        (1, 19)
    );
}

#[tokio::test]
async fn stale_version_or_etag_returns_412() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let path = format!("/courses/{id}");
    let tag = trainer.get(&path).await.header("etag").to_owned();
    trainer.with("if-match", &tag).put(&path, payload("Brasage")).await.expect_ok();
    let answer = trainer.with("if-match", &tag).put(&path, payload("Forge")).await;
    answer.expect_error(ErrorCode::VersionConflict);
    let mut stale = payload("Forge");
    stale["version"] = json!(1);
    trainer.put(&path, stale).await.expect_error(ErrorCode::VersionConflict);
    let answer = trainer.with("if-none-match", "*").put(&path, payload("Forge")).await;
    answer.expect_error(ErrorCode::VersionConflict);
    let tag = trainer.get(&path).await.header("etag").to_owned();
    let answer = trainer.with("if-none-match", &tag).put(&path, payload("Forge")).await;
    answer.expect_error(ErrorCode::VersionConflict);
    trainer.with("if-match", "*").put(&path, payload("Forge")).await.expect_ok();
    // Adding questions changes the version, too.
    trainer
        .post(&format!("/courses/questions/{id}"), json!({ "questions": [question("Pourquoi ?")] }))
        .await
        .expect_ok();
    let mut stale = payload("Fonte");
    stale["version"] = json!(3);
    trainer.put(&path, stale).await.expect_error(ErrorCode::VersionConflict);
    let nowhere = format!("/courses/{CHOSEN}");
    let answer = trainer.with("if-match", "*").put(&nowhere, payload("Fonte")).await;
    answer.expect_error(ErrorCode::VersionConflict);
    let mut seen = payload("Fonte");
    seen["version"] = json!(1);
    trainer.put(&nowhere, seen).await.expect_error(ErrorCode::VersionConflict);
    assert_eq!(trainer.get(&path).await.expect_ok()["course"]["courseTitle"], "Forge");
}

#[tokio::test]
async fn foreign_course_returns_404_or_403() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let (hidden, open) = (draft(&trainer, "Soudure").await, published(&trainer, "Brasage").await);
    let elsewhere = world.another_committee("Ailleurs", true).await;
    for someone in
        [NewPerson::with(Profile::Trainer), NewPerson::with(Profile::CommitteeAdmin).of(elsewhere)]
    {
        let other = world.person(someone).await;
        let answer = other.put(&format!("/courses/{hidden}"), payload("Forge")).await;
        answer.expect_error(ErrorCode::CourseNotFound);
        let answer = other.put(&format!("/courses/{open}"), payload("Forge")).await;
        answer.expect_error(ErrorCode::Forbidden);
        // Invalid fields are reported first.
        let answer = other.put(&format!("/courses/{hidden}"), json!({})).await;
        answer.expect_field_error("courseTitle", ErrorCode::FieldRequired);
    }
    let admin = world.person(Profile::CommitteeAdmin).await;
    let changed = admin.put(&format!("/courses/{hidden}"), payload("Forge")).await.expect_ok();
    assert_eq!(changed["course"]["createdBy"], json!(trainer.user().user_id));
}

#[tokio::test]
async fn author_who_changes_committee_loses_access_to_courses() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let (hidden, open) = (draft(&trainer, "Soudure").await, published(&trainer, "Brasage").await);
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let id = trainer.user().user_id;
    world.admin().await.change_member(id, json!({ "committeeID": elsewhere })).await;
    let moved = world.signed_in(world.user(id).await).await;
    moved.get(&format!("/courses/{hidden}")).await.expect_error(ErrorCode::CourseNotFound);
    let answer = moved.put(&format!("/courses/{hidden}"), payload("Forge")).await;
    answer.expect_error(ErrorCode::CourseNotFound);
    let answer = moved.put(&format!("/courses/{open}"), payload("Forge")).await;
    answer.expect_error(ErrorCode::Forbidden);
    moved.get(&format!("/courses/{open}/to-draft")).await.expect_error(ErrorCode::Forbidden);
    moved.delete(&format!("/courses/{open}")).await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn published_course_must_stay_complete() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{}", published(&trainer, "Soudure").await);
    let refused =
        trainer.put(&path, json!({ "courseTitle": "Soudure", "courseType": "ONSITE" })).await;
    refused.expect_error(ErrorCode::CourseNotReady);
    let fields: Vec<String> = refused.errors().into_iter().map(|(field, _)| field).collect();
    assert_eq!(
        fields,
        ["description", "sectionOfMatter", "contactEmail", "region", "city", "location"]
    );
    assert_eq!(trainer.get(&path).await.expect_ok()["course"]["version"], 2);
    trainer.put(&path, payload("Brasage")).await.expect_success(Message::CourseUpdated);
}
