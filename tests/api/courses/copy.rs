use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::{Value, json};
use tests::{World, expect_fields};

use super::{created_course, id_of, payload, published, question, questions_of};

#[tokio::test]
async fn copy_is_a_draft_with_new_ids_and_without_dates() {
    let world = World::new().await;
    let author = world.person(Profile::Trainer).await;
    let mut content = payload("Secourisme");
    content["startAt"] = json!("2027-01-10T08:00:00Z");
    content["endAt"] = json!("2027-01-11T15:00:00Z");
    let id = id_of(&created_course(&author, content).await);
    let questions = json!({ "questions": [question("Un ?"), question("Deux ?")] });
    author.post(&format!("/courses/questions/{id}"), questions).await;
    author.post(&format!("/courses/{id}/publish"), json!({})).await;
    let source = author.get(&format!("/courses/{id}")).await.expect_ok();

    let administrator = world.person(Profile::CommitteeAdmin).await;
    let copy = administrator.post(&format!("/courses/{id}/copy"), json!({})).await;
    let copy = copy.expect_success(Message::CourseCopied);
    let copied_id = id_of(&copy["course"]);
    let shown = administrator.get(&format!("/courses/{copied_id}")).await.expect_ok();
    assert_eq!((&shown["course"], &shown["questions"]), (&copy["course"], &copy["questions"]));

    let changed = ["courseID", "createdBy", "createdAt", "updatedAt", "version"];
    for (field, value) in copy["course"].as_object().unwrap() {
        match field.as_str() {
            "startAt" | "endAt" | "publishedAt" => assert_eq!(value, &Value::Null, "{field}"),
            "state" => assert_eq!(value, "DRAFT"),
            _ if changed.contains(&field.as_str()) => {
                assert_ne!(value, &source["course"][field], "{field}");
            }
            _ => assert_eq!(value, &source["course"][field], "{field}"),
        }
    }
    assert_eq!(copy["course"]["createdBy"], json!(administrator.user().user_id));
    assert_eq!(questions_of(&administrator, &copied_id).await, ["Un ?", "Deux ?"]);
    assert_ne!(copy["questions"][0]["questionID"], source["questions"][0]["questionID"]);
    let unchanged = author.get(&format!("/courses/{id}")).await.expect_ok();
    assert_eq!(unchanged, source);

    let entry = &administrator.get("/audit?limit=1").await.expect_ok()["audit"][0].clone();
    expect_fields(entry, json!({ "action": "COURSE_COPIED", "targetID": copied_id }));
    assert_eq!(entry["after"], json!({ "copiedFrom": id }));
}

#[tokio::test]
async fn copy_with_most_questions_is_complete_and_editable() {
    let world = World::new().await;
    let author = world.person(Profile::Trainer).await;
    let id = id_of(&created_course(&author, payload("Long")).await);
    let texts: Vec<String> = (1..=200).map(|number| format!("Question {number} ?")).collect();
    for texts in texts.chunks(50) {
        let questions: Vec<Value> = texts.iter().map(|text| question(text)).collect();
        let path = format!("/courses/questions/{id}");
        author.post(&path, json!({ "questions": questions })).await.expect_ok();
    }
    let title = json!({ "courseTitle": "Long, bis" });
    let copy = author.post(&format!("/courses/{id}/copy"), title).await;
    let copy = copy.expect_success(Message::CourseCopied);
    assert_eq!(copy["course"]["courseTitle"], "Long, bis");
    let copied_id = id_of(&copy["course"]);
    assert_eq!(questions_of(&author, &copied_id).await, texts);

    let more = json!({ "questions": [question("Encore ?")] });
    let path = format!("/courses/questions/{copied_id}");
    author.post(&path, more).await.expect_error(ErrorCode::QuestionsLimit);
    let last = copy["questions"][199]["questionID"].as_str().unwrap();
    author.delete(&format!("{path}/{last}")).await.expect_success(Message::QuestionDeleted);
    assert_eq!(questions_of(&author, &copied_id).await, texts[..199]);
}

#[tokio::test]
async fn course_that_the_caller_only_reads_is_not_copied() {
    let world = World::new().await;
    let author = world.person(Profile::Trainer).await;
    let id = published(&author, "Public").await;
    let colleague = world.person(Profile::Trainer).await;
    let refused = colleague.post(&format!("/courses/{id}/copy"), json!({})).await;
    refused.expect_error(ErrorCode::Forbidden);
    author.delete(&format!("/courses/{id}")).await.expect_success(Message::CourseArchived);
    let copied = author.post(&format!("/courses/{id}/copy"), json!({})).await;
    copied.expect_success(Message::CourseCopied);
}
