use std::time::Duration;

use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use futures_util::future::{join, join_all};
use serde_json::json;
use tests::{Someone, World};

use super::{begun, draft, id_of, published, titles, wish};

#[tokio::test]
async fn a_course_is_published_once_and_keeps_its_first_time() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let first = trainer
        .get(&format!("{path}/publish"))
        .await
        .tells(Message::CoursePublished)["course"]
        .clone();
    assert_eq!(
        (&first["state"], &first["version"]),
        (&json!("PUBLISHED"), &json!(2))
    );
    assert_eq!(
        trainer
            .post(&format!("{path}/publish"), json!({}))
            .await
            .tells(Message::AlreadyPublished)["course"],
        first
    );
    world.clock().advance(Duration::from_secs(60));
    trainer
        .post(&format!("{path}/to-draft"), json!({}))
        .await
        .tells(Message::CourseReturned);
    let again = trainer
        .post(&format!("{path}/publish"), json!({}))
        .await
        .tells(Message::CoursePublished)["course"]
        .clone();
    assert_eq!(
        (&again["publishedAt"], &again["version"]),
        (&first["publishedAt"], &json!(4))
    );
    assert_ne!(again["updatedAt"], first["updatedAt"]);
}

#[tokio::test]
async fn all_that_is_missing_is_told_at_once() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let bare = begun(&trainer, json!({ "courseTitle": "x", "courseType": "ONSITE", "description": "  trop court ici    \n" })).await;
    let refused = trainer
        .get(&format!("/courses/{}/publish", id_of(&bare)))
        .await;
    refused.refuses(ErrorCode::CourseNotReady);
    let errors = refused.errors();
    let expected = [
        ("description", "FIELD_LENGTH_MESSAGE"),
        ("sectionOfMatter", "FIELD_REQUIRED_MESSAGE"),
        ("contactEmail", "FIELD_REQUIRED_MESSAGE"),
        ("region", "FIELD_REQUIRED_MESSAGE"),
        ("city", "FIELD_REQUIRED_MESSAGE"),
        ("location", "FIELD_REQUIRED_MESSAGE"),
    ];
    assert_eq!(
        errors,
        expected.map(|(field, code)| (field.to_owned(), code.to_owned()))
    );
    let mut one = wish("x");
    one["contactEmail"] = json!(null);
    let id = id_of(&begun(&trainer, one).await);
    let refused = trainer
        .post(&format!("/courses/{id}/publish"), json!({}))
        .await;
    refused.refuses(ErrorCode::CourseNotReady);
    assert_eq!(
        refused.errors(),
        [(
            "contactEmail".to_owned(),
            "FIELD_REQUIRED_MESSAGE".to_owned()
        )]
    );
}

#[tokio::test]
async fn nothing_is_published_for_a_closed_committee() {
    let world = World::new().await;
    let closing = world.another_committee("Ferme", true).await;
    let trainer = world
        .person(Someone::with(Profile::Trainer).of(closing))
        .await;
    let id = draft(&trainer, "Soudure").await;
    let admin = world.admin().await;
    admin
        .put(
            &format!("/committees/{closing}"),
            json!({ "isActive": false }),
        )
        .await
        .tells(Message::CommitteeUpdated);
    trainer
        .post(&format!("/courses/{id}/publish"), json!({}))
        .await
        .refuses(ErrorCode::CommitteeInactive);
    let refused = admin
        .post(&format!("/courses/{id}/publish"), json!({}))
        .await;
    refused.refuses(ErrorCode::CourseNotReady);
    assert_eq!(
        refused.errors(),
        [(
            "committeeID".to_owned(),
            "COMMITTEE_INVALID_MESSAGE".to_owned()
        )]
    );
}

#[tokio::test]
async fn of_closing_a_committee_and_publishing_the_later_one_knows_of_the_other() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let admin = world.admin().await;
    for _ in 0..8 {
        let closing = world.another_committee("Ferme", true).await;
        let trainer = world
            .person(Someone::with(Profile::Trainer).of(closing))
            .await;
        let id = draft(&trainer, "Soudure").await;
        let (committee, publish) = (
            format!("/committees/{closing}"),
            format!("/courses/{id}/publish"),
        );
        let (closed, told) = join(
            admin.put(&committee, json!({ "isActive": false })),
            trainer.post(&publish, json!({})),
        )
        .await;
        closed.tells(Message::CommitteeUpdated);
        let state = admin.get(&format!("/courses/{id}")).await.shows()["course"]["state"].clone();
        assert_eq!(
            state == "PUBLISHED",
            told.status == 200,
            "{} {}",
            told.status,
            told.code()
        );
        assert!([200, 400, 403].contains(&told.status));
    }
}

#[tokio::test]
async fn twenty_who_publish_at_once_publish_once() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let id = draft(&trainer, "Soudure").await;
    let publishers = (0..20).map(|_| {
        let (trainer, path) = (trainer.clone(), format!("/courses/{id}/publish"));
        tokio::spawn(async move { trainer.get(&path).await.code() })
    });
    let codes: Vec<String> = join_all(publishers)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        codes
            .iter()
            .filter(|code| *code == "COURSE_PUBLISHED_MESSAGE")
            .count(),
        1,
        "{codes:?}"
    );
    assert_eq!(
        codes
            .iter()
            .filter(|code| *code == "COURSE_ALREADY_PUBLISHED_MESSAGE")
            .count(),
        19,
        "{codes:?}"
    );
    assert_eq!(
        world.admin().await.get("/audit").await.shows()["audit"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn only_publishers_publish() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let (hidden, open) = (
        draft(&trainer, "Soudure").await,
        published(&trainer, "Brasage").await,
    );
    for (someone, of_hidden, of_open) in [
        (
            Someone::with(Profile::Member),
            ErrorCode::Forbidden,
            ErrorCode::Forbidden,
        ),
        (
            Someone::with(Profile::Member).granted(&[Grant::CoursesWrite]),
            ErrorCode::Forbidden,
            ErrorCode::Forbidden,
        ),
        (
            Someone::with(Profile::Trainer),
            ErrorCode::CourseNotFound,
            ErrorCode::Forbidden,
        ),
    ] {
        let person = world.person(someone).await;
        person
            .get(&format!("/courses/{hidden}/publish"))
            .await
            .refuses(of_hidden);
        person
            .get(&format!("/courses/{open}/to-draft"))
            .await
            .refuses(of_open);
    }
    let publisher = world
        .person(Someone::with(Profile::Member).granted(&[Grant::CoursesPublish]))
        .await;
    publisher
        .get(&format!("/courses/{hidden}/publish"))
        .await
        .tells(Message::CoursePublished);
    publisher
        .put(&format!("/courses/{hidden}"), wish("x"))
        .await
        .refuses(ErrorCode::Forbidden);
}

#[tokio::test]
async fn a_get_that_only_looks_changes_nothing() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let id = draft(&trainer, "Soudure").await;
    for word in ["publish", "to-draft"] {
        let path = format!("/api/v1/courses/{id}/{word}");
        let head = trainer.send(http::Method::HEAD, &path, "".into()).await;
        assert_eq!((head.status, head.header("allow")), (405, "GET, POST"));
        trainer
            .with("sec-purpose", "prefetch")
            .get(&format!("/courses/{id}/{word}"))
            .await
            .refuses(ErrorCode::PrefetchRefused);
    }
    assert_eq!(
        trainer.get(&format!("/courses/{id}")).await.shows()["course"]["version"],
        1
    );
    let told = trainer.get(&format!("/courses/{id}/publish")).await;
    assert_eq!(told.header("cache-control"), "no-store");
    assert_eq!(
        titles(&trainer.get("/courses/search-all").await.shows()),
        ["Soudure"]
    );
}
