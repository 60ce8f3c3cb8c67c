use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

use super::{draft, payload, published, question};

#[tokio::test]
async fn published_course_is_visible_to_every_account() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = published(&trainer, "Soudure").await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let closed = world.another_committee("Fermé", false).await;
    for someone in [
        NewPerson::with(Profile::Member).unverified(),
        NewPerson::with(Profile::Member).of(elsewhere),
        NewPerson::with(Profile::Member).of(closed),
    ] {
        let body = world.person(someone).await.get(&format!("/courses/{id}")).await.expect_ok();
        assert_eq!(json!([body["course"]["state"], body["questions"]]), json!(["PUBLISHED", []]));
    }
}

#[tokio::test]
async fn archived_course_is_visible_to_its_writers() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{}", published(&trainer, "Soudure").await);
    trainer.delete(&path).await.expect_success(Message::CourseArchived);
    trainer.get(&path).await.expect_ok();
    for someone in [
        NewPerson::with(Profile::Member),
        NewPerson::with(Profile::Member).granted(&[Grant::CoursesPublish]),
    ] {
        world.person(someone).await.get(&path).await.expect_error(ErrorCode::CourseNotFound);
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
    let (_, member) = World::with_member().await;
    for id in [
        "x",
        "questions",
        "00000000-0000-0000-0000-000000000000",
        "0198c0de-0000-7000-8000-00000000000A",
        "%ff",
    ] {
        member.get(&format!("/courses/{id}")).await.expect_error(ErrorCode::CourseNotFound);
    }
}

#[tokio::test]
async fn unchanged_course_returns_304_until_it_changes() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let path = format!("/courses/{}", draft(&trainer, "Soudure").await);
    let tag = trainer.get(&path).await.header("etag").to_owned();
    assert_eq!(trainer.with("if-none-match", &tag).get(&path).await.status, 304);
    trainer.put(&path, payload("Brasage")).await.expect_success(Message::CourseUpdated);
    assert_eq!(trainer.with("if-none-match", &tag).get(&path).await.status, 200);
}

/// Adds `questions` to the course `id`; returns the questions of the response.
async fn add(person: &Person, id: &str, questions: Vec<Value>) -> Vec<Value> {
    let path = format!("/courses/questions/{id}");
    let added = person.post(&path, json!({ "questions": questions })).await.expect_ok();
    added["questions"].as_array().unwrap().clone()
}

/// Every change writes the version that the course then has to one of two questions in turn.
#[tokio::test]
async fn course_read_during_changes_has_questions_of_its_version() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let added = add(&trainer, &id, vec![question("2"), question("1")]).await;
    let path = |one: &Value| {
        let question = one["questionID"].as_str().unwrap();
        format!("/courses/questions/{id}/{question}")
    };
    let (even, odd, writer) = (path(&added[0]), path(&added[1]), trainer.clone());
    let writing = tokio::spawn(async move {
        for version in 3..40 {
            let path = if version % 2 == 0 { &even } else { &odd };
            writer.put(path, question(&version.to_string())).await.expect_ok();
        }
    });
    while !writing.is_finished() {
        let body = trainer.get(&format!("/courses/{id}")).await.expect_ok();
        let version = body["course"]["version"].as_u64().unwrap();
        let (even, odd) = (version - version % 2, version - (version + 1) % 2);
        let texts = [0_usize, 1].map(|number| body["questions"][number]["question"].clone());
        assert_eq!(texts, [json!(even.to_string()), json!(odd.to_string())]);
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn questions_say_what_answers_may_be() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let created =
        trainer.post("/courses", json!({ "courseTitle": "Forge" })).await.expect_created();
    let id = created["course"]["courseID"].as_str().unwrap();
    let of = |kind: &str| {
        let mut question = json!({ "language": "FR", "question": "?", "questionType": kind });
        if ["SINGLE_CHOICE", "MULTIPLE_CHOICE", "DROPDOWN"].contains(&kind) {
            question["options"] = json!(["a", "b", "c"]);
        }
        question
    };
    let dates = json!({ "min": "1900-01-01", "max": "2100-12-31" });
    let numbers = json!({ "min": -999_999_999_999_i64, "max": 999_999_999_999_i64, "decimals": 6 });
    let expected = [
        ("SHORT_REPLY", json!({ "maxLength": 500 })),
        ("LONG_REPLY", json!({ "maxLength": 5_000 })),
        ("SINGLE_CHOICE", json!({})),
        ("MULTIPLE_CHOICE", json!({ "minItems": 1, "maxItems": 3 })),
        ("DROPDOWN", json!({})),
        ("YES_NO", json!({})),
        ("NUMBER", numbers),
        ("DATE", dates),
        ("TIME", json!({ "format": "time" })),
        ("SCALE", json!({ "min": 1, "max": 10, "decimals": 0 })),
        ("RATING", json!({ "min": 1, "max": 5, "decimals": 0 })),
        ("EMAIL", json!({ "format": "email" })),
        ("PHONE", json!({ "format": "e164" })),
    ];
    let questions: Vec<Value> =
        expected.iter().map(|(kind, _)| of(kind)).chain([of("FILE")]).collect();
    let body = json!({ "questions": questions });
    trainer.post(&format!("/courses/questions/{id}"), body).await.expect_ok();
    let shown = trainer.get(&format!("/courses/{id}")).await.expect_ok()["questions"].clone();
    for (index, (kind, limits)) in expected.into_iter().enumerate() {
        assert_eq!(shown[index]["limits"], limits, "{kind}");
    }
    let file = &shown[13]["limits"];
    assert_eq!(file["maxBytes"], 100_000_000);
    assert!(file["contentTypes"].as_array().unwrap().contains(&json!("application/pdf")));
}
