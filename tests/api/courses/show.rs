use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::json;
use tests::{Someone, World};

use super::{draft, published};

#[tokio::test]
async fn published_courses_are_everybodys_with_an_account() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let id = published(&trainer, "Soudure").await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let closed = world.another_committee("Fermé", false).await;
    for someone in [
        Someone::with(Profile::Member).unverified(),
        Someone::with(Profile::Member).of(elsewhere),
        Someone::with(Profile::Member).of(closed),
    ] {
        let shown = world
            .person(someone)
            .await
            .get(&format!("/courses/{id}"))
            .await
            .shows();
        assert_eq!(
            (&shown["course"]["state"], &shown["questions"]),
            (&json!("PUBLISHED"), &json!([]))
        );
    }
    world
        .stranger()
        .get(&format!("/courses/{id}"))
        .await
        .refuses(ErrorCode::BadAuthCombination);
}

#[tokio::test]
async fn drafts_are_seen_by_those_who_write_or_publish_them() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let elsewhere = world.another_committee("Ailleurs", true).await;
    for (someone, sees) in [
        (Someone::with(Profile::Member), false),
        (Someone::with(Profile::Trainer), false),
        (Someone::with(Profile::CommitteeAdmin), true),
        (Someone::with(Profile::CommitteeAdmin).of(elsewhere), false),
        (
            Someone::with(Profile::Member).granted(&[Grant::CoursesWrite]),
            true,
        ),
        (
            Someone::with(Profile::Member).granted(&[Grant::CoursesPublish]),
            true,
        ),
        (
            Someone::with(Profile::Member)
                .granted(&[Grant::CoursesWrite])
                .of(elsewhere),
            false,
        ),
    ] {
        let answer = world.person(someone.clone()).await.get(&path).await;
        assert_eq!(answer.status, if sees { 200 } else { 404 }, "{someone:?}");
    }
    trainer.get(&path).await.shows();
    world.admin().await.get(&path).await.shows();
    world
        .person(Someone::with(Profile::CommitteeAdmin).unverified())
        .await
        .get(&path)
        .await
        .refuses(ErrorCode::AccountNotVerified);
}

#[tokio::test]
async fn archived_ones_are_seen_by_their_writers() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let path = format!("/courses/{}", published(&trainer, "Soudure").await);
    trainer.delete(&path).await.tells(Message::CourseArchived);
    trainer.get(&path).await.shows();
    for someone in [
        Someone::with(Profile::Member),
        Someone::with(Profile::Member).granted(&[Grant::CoursesPublish]),
    ] {
        world
            .person(someone)
            .await
            .get(&path)
            .await
            .refuses(ErrorCode::CourseNotFound);
    }
    world
        .person(Someone::with(Profile::Member).granted(&[Grant::CoursesWrite]))
        .await
        .get(&path)
        .await
        .shows();
}

#[tokio::test]
async fn what_is_no_course_is_not_found() {
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
            .refuses(ErrorCode::CourseNotFound);
    }
}

#[tokio::test]
async fn a_known_course_is_304_until_it_changes() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let tag = trainer.get(&path).await.header("etag").to_owned();
    assert_eq!(
        trainer.with("if-none-match", &tag).get(&path).await.status,
        304
    );
    trainer
        .put(&path, super::wish("Brasage"))
        .await
        .tells(Message::CourseUpdated);
    assert_eq!(
        trainer.with("if-none-match", &tag).get(&path).await.status,
        200
    );
}
