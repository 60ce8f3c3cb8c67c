use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::json;
use tests::{NewPerson, World};

use super::{draft, published};

#[tokio::test]
async fn published_course_is_visible_to_every_account() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let id = published(&trainer, "Soudure").await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let closed = world.another_committee("Fermé", false).await;
    for someone in [
        NewPerson::with(Profile::Member).unverified(),
        NewPerson::with(Profile::Member).of(elsewhere),
        NewPerson::with(Profile::Member).of(closed),
    ] {
        let body = world
            .person(someone)
            .await
            .get(&format!("/courses/{id}"))
            .await
            .expect_ok();
        assert_eq!(
            (&body["course"]["state"], &body["questions"]),
            (&json!("PUBLISHED"), &json!([]))
        );
    }
    world
        .anonymous()
        .get(&format!("/courses/{id}"))
        .await
        .expect_error(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn draft_is_visible_to_those_who_may_write_or_publish_it() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let elsewhere = world.another_committee("Ailleurs", true).await;
    for (someone, sees) in [
        (NewPerson::with(Profile::Member), false),
        (NewPerson::with(Profile::Trainer), false),
        (NewPerson::with(Profile::CommitteeAdmin), true),
        (
            NewPerson::with(Profile::CommitteeAdmin).of(elsewhere),
            false,
        ),
        (
            NewPerson::with(Profile::Member).granted(&[Grant::CoursesWrite]),
            true,
        ),
        (
            NewPerson::with(Profile::Member).granted(&[Grant::CoursesPublish]),
            true,
        ),
        (
            NewPerson::with(Profile::Member)
                .granted(&[Grant::CoursesWrite])
                .of(elsewhere),
            false,
        ),
    ] {
        let answer = world.person(someone.clone()).await.get(&path).await;
        assert_eq!(answer.status, if sees { 200 } else { 404 }, "{someone:?}");
    }
    trainer.get(&path).await.expect_ok();
    world.admin().await.get(&path).await.expect_ok();
    world
        .person(NewPerson::with(Profile::CommitteeAdmin).unverified())
        .await
        .get(&path)
        .await
        .expect_error(ErrorCode::AccountNotVerified);
}

#[tokio::test]
async fn archived_course_is_visible_to_its_writers() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let path = format!("/courses/{}", published(&trainer, "Soudure").await);
    trainer
        .delete(&path)
        .await
        .expect_success(Message::CourseArchived);
    trainer.get(&path).await.expect_ok();
    for someone in [
        NewPerson::with(Profile::Member),
        NewPerson::with(Profile::Member).granted(&[Grant::CoursesPublish]),
    ] {
        world
            .person(someone)
            .await
            .get(&path)
            .await
            .expect_error(ErrorCode::CourseNotFound);
    }
    world
        .person(NewPerson::with(Profile::Member).granted(&[Grant::CoursesWrite]))
        .await
        .get(&path)
        .await
        .expect_ok();
}

#[tokio::test]
async fn malformed_course_id_returns_404() {
    let world = World::new().await;
    let member = world.member().await;
    for id in [
        "x",
        "questions",
        "00000000-0000-0000-0000-000000000000",
        "0198c0de-0000-7000-8000-00000000000A",
        "%ff",
    ] {
        member
            .get(&format!("/courses/{id}"))
            .await
            .expect_error(ErrorCode::CourseNotFound);
    }
}

#[tokio::test]
async fn unchanged_course_returns_304_until_it_changes() {
    let world = World::new().await;
    let trainer = world.person(NewPerson::with(Profile::Trainer)).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let tag = trainer.get(&path).await.header("etag").to_owned();
    assert_eq!(
        trainer.with("if-none-match", &tag).get(&path).await.status,
        304
    );
    trainer
        .put(&path, super::payload("Brasage"))
        .await
        .expect_success(Message::CourseUpdated);
    assert_eq!(
        trainer.with("if-none-match", &tag).get(&path).await.status,
        200
    );
}
