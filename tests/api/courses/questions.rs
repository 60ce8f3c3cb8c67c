use cloud::faults::{Fault, Mode};
use common::{ErrorCode, Message};
use domain::Profile;
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tests::{Answer, World, expect_fields, texts_of};

use super::{draft, question, questions_of};

fn questions(range: std::ops::Range<u32>) -> Value {
    json!({ "questions": range.map(|number| question(&format!("Question {number} ?"))).collect::<Vec<Value>>() })
}

#[tokio::test]
async fn questions_keep_the_order_of_the_request() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let path = format!("/courses/questions/{id}");
    let added = trainer.post(&path, questions(0..50)).await;
    assert!(added.cost.round_trips <= 3, "{:?}", added.cost);
    let added =
        added.expect_success(Message::QuestionsAdded)["questions"].as_array().unwrap().clone();
    assert_eq!(added.len(), 50);
    let first = json!({
        "questionID": added[0]["questionID"], "courseID": id, "language": "FR", "question": "Question 0 ?", "questionType": "SHORT_REPLY",
        "order": 1, "required": false, "options": null, "createdAt": added[0]["createdAt"], "limits": { "maxLength": 500 },
    });
    assert_eq!(added[0], first);
    let more = json!({ "questions": [
        { "language": "AR", "question": "ما رأيك؟\n\t…", "questionType": "MULTIPLE_CHOICE", "required": true, "options": [" نعم ", "لا"] },
    ] });
    let more = trainer.post(&path, more).await.expect_success(Message::QuestionsAdded)["questions"]
        [0]
    .clone();
    expect_fields(&more, json!({ "order": 51, "required": true, "options": ["نعم", "لا"] }));
    let view = trainer.get(&format!("/courses/{id}")).await.expect_ok();
    assert_eq!(view["questions"].as_array().unwrap()[..50], added[..]);
    assert_eq!(view["questions"][50], more);
    assert_eq!(json!([view["course"]["questionCount"], view["course"]["version"]]), json!([51, 3]));
}

#[tokio::test]
async fn invalid_questions_are_reported_with_index_and_none_is_added() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let path = format!("/courses/questions/{id}");
    for (field, value, error_code) in [
        ("questionType", json!("DROPDOWN"), ErrorCode::FieldRequired),
        ("options", json!(["oui", "non"]), ErrorCode::FieldValue),
    ] {
        let mut one = question("Pourquoi ?");
        one[field] = value;
        let body = json!({ "questions": [question("Comment ?"), one] });
        trainer.post(&path, body).await.expect_field_error("questions[1].options", error_code);
    }
    let two = json!({ "questions": [{ "language": "x" }, question("Comment ?"), { "question": 1, "language": "FR", "questionType": "FILE" }] });
    let refused = trainer.post(&path, two).await;
    refused.expect_error(ErrorCode::Validation);
    let fields: Vec<String> = refused.errors().into_iter().map(|(field, _)| field).collect();
    let first = ["language", "question", "questionType"].map(|name| format!("questions[0].{name}"));
    assert_eq!((&fields[..3], &*fields[3]), (&first[..], "questions[2].question"));
    assert_eq!(questions_of(&trainer, &id).await, [""; 0]);
}

#[tokio::test]
async fn course_has_at_most_200_questions() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let path = format!("/courses/questions/{id}");
    trainer.post(&path, questions(0..30)).await.expect_success(Message::QuestionsAdded);
    let writers = (0..12).map(|_| {
        let (trainer, path) = (trainer.clone(), path.clone());
        tokio::spawn(async move { trainer.post_until_answered(&path, questions(0..20)).await })
    });
    let answers: Vec<_> =
        world.race(2, join_all(writers)).await.into_iter().map(Result::unwrap).collect();
    let added = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(added, 8);
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.expect_error(ErrorCode::QuestionsLimit);
    }
    assert_eq!(questions_of(&trainer, &id).await.len(), 190);
    trainer.post(&path, questions(0..11)).await.expect_error(ErrorCode::QuestionsLimit);
    trainer.post(&path, questions(0..10)).await.expect_success(Message::QuestionsAdded);
    trainer.post(&path, questions(0..1)).await.expect_error(ErrorCode::QuestionsLimit);
    let mut places: Vec<u64> = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| answer.json()["questions"][0]["order"].as_u64().unwrap())
        .collect();
    places.sort_unstable();
    assert_eq!(
        places,
        (0..8).map(|number| 31 + 20 * number).collect::<Vec<u64>>(),
        "each response contains the position of its questions"
    );
}

/// Concurrent callers add questions while others are deleted: each acknowledged question exists.
#[tokio::test]
async fn acknowledged_question_is_never_lost() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let path = format!("/courses/questions/{id}");
    let first = trainer.post(&path, questions(100..104)).await.expect_ok();
    let going = texts_of(&first["questions"], "questionID");
    let adding = (0..16).map(|number| {
        let (trainer, path) = (trainer.clone(), path.clone());
        tokio::spawn(async move { trainer.post(&path, questions(number..number + 1)).await })
    });
    let removing = going.iter().map(|id| {
        let (trainer, path) = (trainer.clone(), format!("{path}/{id}"));
        tokio::spawn(async move { trainer.delete(&path).await })
    });
    let (adding, removing): (Vec<_>, Vec<_>) = (adding.collect(), removing.collect());
    let both = world.race(2, join(join_all(adding), join_all(removing))).await;
    let there = questions_of(&trainer, &id).await;
    let acknowledged = |answers: Vec<Result<Answer, _>>, first: usize| -> Vec<String> {
        let answers = (first..).zip(answers.into_iter().map(Result::unwrap));
        let answered = answers.filter(|(_, answer)| answer.status == 200);
        answered.map(|(number, _)| format!("Question {number} ?")).collect()
    };
    let (added, removed) = (acknowledged(both.0, 0), acknowledged(both.1, 100));
    assert!(added.len() + removed.len() > 10, "{added:?} {removed:?}");
    assert!(added.iter().all(|one| there.contains(one)), "{added:?} {there:?}");
    assert!(!removed.iter().any(|one| there.contains(one)), "{removed:?} {there:?}");
}

/// Slow reads of a course and its questions stay consistent with each other.
#[tokio::test]
async fn concurrent_additions_to_one_course_are_all_kept() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    for number in 0..6 {
        let id = draft(&trainer, "Soudure").await;
        let path = format!("/courses/questions/{id}");
        trainer.post(&path, questions(0..2)).await.expect_success(Message::QuestionsAdded);
        let mut slow = Fault::new(Mode::Slow).times(1 + number % 3);
        slow.delay_ms = Some(60);
        world.inject_fault(slow);
        let calls = (2..8).map(|number| {
            let (trainer, path) = (trainer.clone(), path.clone());
            tokio::spawn(async move {
                trainer.post(&path, questions(number..number + 1)).await.expect_ok()
            })
        });
        let calls: Vec<_> = calls.collect();
        for call in calls {
            call.await.unwrap();
        }
        assert_eq!(questions_of(&trainer, &id).await.len(), 8);
    }
}

#[tokio::test]
async fn course_has_at_most_300000_bytes_of_questions() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let path = format!("/courses/questions/{id}");
    let options: Vec<String> = (0..50).map(|number| format!("{number:0>200}")).collect();
    let long = json!({ "language": "FR", "question": "x", "questionType": "DROPDOWN", "options": options });
    let nine = json!({ "questions": vec![long.clone(); 9] });
    for _ in 0..3 {
        trainer.post(&path, nine.clone()).await.expect_success(Message::QuestionsAdded);
    }
    let answer = trainer.post(&path, json!({ "questions": vec![long.clone(); 2] })).await;
    answer.expect_error(ErrorCode::QuestionsLimit);
    let answer = trainer.post(&path, json!({ "questions": vec![long; 1] })).await;
    answer.expect_success(Message::QuestionsAdded);
    assert_eq!(questions_of(&trainer, &id).await.len(), 28);
}

#[tokio::test]
async fn questions_are_added_all_or_none() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let path = format!("/courses/questions/{id}");
    world.inject_fault(Fault::new(Mode::Refuse).on("TransactWriteItems"));
    trainer.post(&path, questions(0..50)).await.expect_error(ErrorCode::Unavailable);
    world.clear_faults();
    assert_eq!(questions_of(&trainer, &id).await, [""; 0]);
    world.inject_fault(Fault::new(Mode::Silent).on("TransactWriteItems").times(1));
    trainer.post(&path, questions(0..50)).await.expect_success(Message::QuestionsAdded);
    assert_eq!(questions_of(&trainer, &id).await.len(), 50);
}
