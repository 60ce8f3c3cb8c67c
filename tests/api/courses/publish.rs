use std::time::Duration;

use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::{join, join_all};
use serde_json::json;
use tests::{NewPerson, World};

use super::{created_course, draft, id_of, payload, published, titles};

#[tokio::test]
async fn course_is_published_once_and_keeps_its_first_publication_time() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let answer = trainer.get(&format!("{path}/publish")).await;
    let first = answer.expect_success(Message::CoursePublished)["course"].clone();
    assert_eq!((&first["state"], &first["version"]), (&json!("PUBLISHED"), &json!(2)));
    assert_eq!(
        trainer
            .post(&format!("{path}/publish"), json!({}))
            .await
            .expect_success(Message::AlreadyPublished)["course"],
        first
    );
    world.clock().advance(Duration::from_secs(60));
    trainer.post(&format!("{path}/to-draft"), json!({})).await.expect_ok();
    let answer = trainer.post(&format!("{path}/publish"), json!({})).await;
    let again = answer.expect_success(Message::CoursePublished)["course"].clone();
    assert_eq!((&again["publishedAt"], &again["version"]), (&first["publishedAt"], &json!(4)));
    assert_ne!(again["updatedAt"], first["updatedAt"]);
}

#[tokio::test]
async fn missing_fields_are_all_reported() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let bare = created_course(&trainer, json!({ "courseTitle": "x", "courseType": "ONSITE", "description": "  trop court ici  \u{200b}\u{200b}\u{200b}\u{200b}\u{200b}\u{200b}.\n" })).await;
    let refused = trainer.get(&format!("/courses/{}/publish", id_of(&bare))).await;
    refused.expect_error(ErrorCode::CourseNotReady);
    let errors = refused.errors();
    let expected = [
        ("description", "FIELD_LENGTH_MESSAGE"),
        ("sectionOfMatter", "FIELD_REQUIRED_MESSAGE"),
        ("contactEmail", "FIELD_REQUIRED_MESSAGE"),
        ("region", "FIELD_REQUIRED_MESSAGE"),
        ("city", "FIELD_REQUIRED_MESSAGE"),
        ("location", "FIELD_REQUIRED_MESSAGE"),
    ];
    assert_eq!(errors, expected.map(|(field, code)| (field.to_owned(), code.to_owned())));
    let elements = &refused.json()["errors"];
    let bounds = |at: usize| (&elements[at]["min"], &elements[at]["max"]);
    assert_eq!(bounds(0), (&json!(20), &json!(20_000)));
    assert_eq!(bounds(1), (&json!(1), &json!(100)));
    assert_eq!(elements[2]["format"], "email");
    let mut one = payload("x");
    one["contactEmail"] = json!(null);
    let id = id_of(&created_course(&trainer, one).await);
    let refused = trainer.post(&format!("/courses/{id}/publish"), json!({})).await;
    refused.expect_error(ErrorCode::CourseNotReady);
    assert_eq!(
        refused.errors(),
        [("contactEmail".to_owned(), "FIELD_REQUIRED_MESSAGE".to_owned())]
    );
}

#[tokio::test]
async fn course_of_closed_committee_cannot_be_published() {
    let world = World::new().await;
    let closing = world.another_committee("Ferme", true).await;
    let trainer = world.person(NewPerson::with(Profile::Trainer).of(closing)).await;
    let id = draft(&trainer, "Soudure").await;
    let admin = world.admin().await;
    admin.put(&format!("/committees/{closing}"), json!({ "isActive": false })).await.expect_ok();
    let answer = trainer.post(&format!("/courses/{id}/publish"), json!({})).await;
    answer.expect_error(ErrorCode::CommitteeInactive);
    let refused = admin.post(&format!("/courses/{id}/publish"), json!({})).await;
    refused.expect_error(ErrorCode::CourseNotReady);
    assert_eq!(
        refused.errors(),
        [("committeeID".to_owned(), "COMMITTEE_INVALID_MESSAGE".to_owned())]
    );
}

#[tokio::test]
async fn concurrent_close_and_publish_response_matches_state() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let admin = world.admin().await;
    for _ in 0..8 {
        let closing = world.another_committee("Ferme", true).await;
        let trainer = world.person(NewPerson::with(Profile::Trainer).of(closing)).await;
        let id = draft(&trainer, "Soudure").await;
        let (committee, publish) =
            (format!("/committees/{closing}"), format!("/courses/{id}/publish"));
        let both = join(
            admin.put(&committee, json!({ "isActive": false })),
            trainer.post(&publish, json!({})),
        );
        let (closed, response) = world.race(2, both).await;
        closed.expect_success(Message::CommitteeUpdated);
        let state =
            admin.get(&format!("/courses/{id}")).await.expect_ok()["course"]["state"].clone();
        assert_eq!(
            state == "PUBLISHED",
            response.status == 200,
            "{} {}",
            response.status,
            response.code()
        );
        assert!([200, 400, 403].contains(&response.status));
    }
}

#[tokio::test]
async fn twenty_concurrent_publishes_publish_once() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let publishers = (0..20).map(|_| {
        let (trainer, path) = (trainer.clone(), format!("/courses/{id}/publish"));
        tokio::spawn(async move { trainer.get(&path).await.code() })
    });
    let codes: Vec<String> =
        world.race(2, join_all(publishers)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(
        codes.iter().filter(|code| *code == "COURSE_PUBLISHED_MESSAGE").count(),
        1,
        "{codes:?}"
    );
    assert_eq!(
        codes.iter().filter(|code| *code == "COURSE_ALREADY_PUBLISHED_MESSAGE").count(),
        19,
        "{codes:?}"
    );
    assert_eq!(
        world.admin().await.get("/audit").await.expect_ok()["audit"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn published_course_of_another_author_returns_403() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{}/to-draft", published(&trainer, "Brasage").await);
    world.person(Profile::Trainer).await.get(&path).await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn head_or_prefetch_does_not_publish() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    for word in ["publish", "to-draft"] {
        let path = format!("/api/v1/courses/{id}/{word}");
        let head = trainer.send(http::Method::HEAD, &path, "".into()).await;
        assert_eq!((head.status, head.header("allow")), (405, "GET,POST"));
        trainer
            .with("sec-purpose", "prefetch")
            .get(&format!("/courses/{id}/{word}"))
            .await
            .expect_error(ErrorCode::PrefetchRefused);
    }
    assert_eq!(trainer.get(&format!("/courses/{id}")).await.expect_ok()["course"]["version"], 1);
    let response = trainer.get(&format!("/courses/{id}/publish")).await;
    assert_eq!(response.header("cache-control"), "no-store");
    assert_eq!(titles(&trainer.get("/courses/search-all").await.expect_ok()), ["Soudure"]);
}
