use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::{Person, World};

use super::{draft, question, questions_of};

/// The identifier of a new course with questions `texts`, and the paths of the questions.
async fn course_with_questions(person: &Person, texts: &[&str]) -> (String, Vec<String>) {
    let id = draft(person, "Soudure").await;
    let questions: Vec<Value> = texts.iter().map(|text| question(text)).collect();
    let added = person
        .post(&format!("/courses/questions/{id}"), json!({ "questions": questions }))
        .await
        .expect_ok();
    let paths = added["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("/courses/questions/{id}/{}", one["questionID"].as_str().unwrap()))
        .collect();
    (id, paths)
}

#[tokio::test]
async fn question_is_visible_to_those_who_see_its_course() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let (id, paths) = course_with_questions(&trainer, &["un", "deux"]).await;
    let view = trainer.get(&paths[1]).await.expect_ok()["question"].clone();
    assert_eq!(json!([view["question"], view["order"], view["courseID"]]), json!(["deux", 2, id]));
    world.member().await.get(&paths[1]).await.expect_error(ErrorCode::CourseNotFound);
    let answer = trainer.get(&format!("/courses/questions/{id}/x")).await;
    answer.expect_error(ErrorCode::QuestionNotFound);
    trainer.get(&paths[1].replace(&id, "x")).await.expect_error(ErrorCode::CourseNotFound);
    let (_, others) = course_with_questions(&trainer, &["trois"]).await;
    let foreign = format!("/courses/questions/{id}/{}", others[0].rsplit('/').next().unwrap());
    trainer.get(&foreign).await.expect_error(ErrorCode::QuestionNotFound);
    trainer.put(&foreign, question("x")).await.expect_error(ErrorCode::QuestionNotFound);
    trainer.delete(&foreign).await.expect_error(ErrorCode::QuestionNotFound);
}

#[tokio::test]
async fn change_replaces_the_question_in_its_place() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let (id, paths) = course_with_questions(&trainer, &["un", "deux", "trois"]).await;
    let before = trainer.get(&paths[1]).await.expect_ok()["question"].clone();
    let body = json!({ "language": "AR", "question": "لماذا؟", "questionType": "DROPDOWN", "required": true, "options": ["أ", "ب"] });
    let after = trainer.put(&paths[1], body.clone()).await.expect_ok()["question"].clone();
    let mut expected = before;
    expected["limits"] = json!({});
    for (field, value) in body.as_object().unwrap() {
        expected[field] = value.clone();
    }
    assert_eq!(after, expected);
    assert_eq!(trainer.get(&paths[1]).await.expect_ok()["question"], expected);
    assert_eq!(questions_of(&trainer, &id).await, ["un", "لماذا؟", "trois"]);
    assert_eq!(trainer.get(&format!("/courses/{id}")).await.expect_ok()["course"]["version"], 3);
}

#[tokio::test]
async fn changed_order_moves_the_question_and_renumbers_others() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let (id, paths) = course_with_questions(&trainer, &["a", "b", "c", "d"]).await;
    let texts = ["a", "b", "c", "d"];
    for (moved, order, new_order, expected) in [
        (3, 1, 1, ["d", "a", "b", "c"]),
        (3, 3, 3, ["a", "b", "d", "c"]),
        (0, 0, 1, ["a", "b", "d", "c"]),
        (0, 5_000_000_000_u64, 4, ["b", "d", "c", "a"]),
    ] {
        let mut body = question(texts[moved]);
        body["order"] = json!(order);
        let after = trainer.put(&paths[moved], body).await.expect_success(Message::QuestionUpdated);
        assert_eq!(after["question"]["order"], new_order);
        assert_eq!(questions_of(&trainer, &id).await, expected);
    }
    trainer.delete(&paths[3]).await.expect_success(Message::QuestionDeleted);
    assert_eq!(questions_of(&trainer, &id).await, ["b", "c", "a"]);
    trainer.delete(&paths[3]).await.expect_error(ErrorCode::QuestionNotFound);
}

#[tokio::test]
async fn concurrent_changes_are_all_applied() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let texts: Vec<String> = (0..8).map(|number| format!("q{number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (id, paths) = course_with_questions(&trainer, &texts).await;
    let changes = paths.iter().cloned().enumerate().map(|(number, path)| {
        let trainer = trainer.clone();
        tokio::spawn(async move {
            let mut body = question(&format!("nouvelle {number}"));
            body["order"] = json!(1);
            if number % 2 == 0 {
                trainer.delete(&path).await.status
            } else {
                trainer.put(&path, body).await.status
            }
        })
    });
    let statuses: Vec<u16> =
        world.race(2, join_all(changes)).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(statuses, [200; 8]);
    let mut left = questions_of(&trainer, &id).await;
    left.sort();
    assert_eq!(left, ["nouvelle 1", "nouvelle 3", "nouvelle 5", "nouvelle 7"]);
}
