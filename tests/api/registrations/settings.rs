use common::{ErrorCode, Message};
use serde_json::json;
use tests::expect_fields;

use super::{Course, automatic};

#[tokio::test]
async fn settings_replace_all_fields_and_raise_the_course_version() {
    let course = Course::with(automatic(5, 2)).await;
    let path = format!("/courses/{}", course.id);
    let before = course.trainer.get(&path).await.expect_ok();
    expect_fields(&before["registration"], automatic(5, 2));
    let body = course.set(json!({ "mode": "MANUAL", "joinInfo": "Salle 2" })).await;
    let body = body.expect_success(Message::RegistrationSettings);
    let expected =
        json!({ "mode": "MANUAL", "capacity": null, "waitlistLimit": 0, "joinInfo": "Salle 2" });
    expect_fields(&body["registration"], expected);
    let after = course.trainer.get(&path).await.expect_ok();
    assert_eq!(after["registration"], body["registration"]);
    assert_eq!(after["course"]["version"], body["version"]);
    assert_eq!(body["version"], before["course"]["version"].as_u64().unwrap() + 1);
    let stale = json!({ "mode": "NONE", "version": before["course"]["version"] });
    course.set(stale).await.expect_error(ErrorCode::VersionConflict);
    let wrong = json!({ "opensAt": "2026-12-02", "closesAt": "2026-12-01" });
    let refused = course.set(wrong).await;
    refused.expect_field_error("closesAt", ErrorCode::FieldValue);
    let opening = json!("2026-12-02T00:00:00.000Z");
    assert_eq!(refused.json()["errors"][0]["min"], opening);
}

#[tokio::test]
async fn replaced_course_keeps_its_registration_settings() {
    let course = Course::with(automatic(5, 2)).await;
    let path = format!("/courses/{}", course.id);
    let body = course.trainer.get(&path).await.expect_ok();
    course.trainer.put(&path, body["course"].clone()).await.expect_ok();
    let after = course.trainer.get(&path).await.expect_ok();
    assert_eq!(after["registration"], body["registration"]);
}

#[tokio::test]
async fn capacity_below_the_confirmed_people_is_refused() {
    let course = Course::with(automatic(3, 0)).await;
    for _ in 0..2 {
        course.registered().await;
    }
    let refused = course.set(automatic(1, 0)).await;
    refused.expect_error(ErrorCode::CapacityTooLow);
    let error = &refused.json()["errors"][0];
    assert_eq!(json!([error["field"], error["min"]]), json!(["capacity", 2]));
    course.set(automatic(2, 0)).await.expect_success(Message::RegistrationSettings);
}

#[tokio::test]
async fn join_info_of_a_course_is_for_its_writers_and_confirmed_people() {
    let mut settings = automatic(1, 5);
    settings["joinInfo"] = json!("https://meet.example.org/123456789");
    let course = Course::with(settings).await;
    let (confirmed, own) = course.registered().await;
    let (waiting, other) = course.registered().await;
    let info = json!("https://meet.example.org/123456789");
    assert_eq!(json!([own["joinInfo"], other["joinInfo"]]), json!([info, null]));
    for (person, shown) in
        [(&confirmed, &json!(null)), (&waiting, &json!(null)), (&course.trainer, &info)]
    {
        let body = person.get(&format!("/courses/{}", course.id)).await.expect_ok();
        assert_eq!(&body["registration"]["joinInfo"], shown);
    }
}

#[tokio::test]
async fn question_type_is_fixed_after_the_first_registration() {
    let course = Course::with(automatic(3, 0)).await;
    let question =
        json!({ "language": "FR", "question": "Repas ?", "questionType": "SHORT_REPLY" });
    let id = course.ask(question.clone()).await;
    let path = format!("/courses/questions/{}/{id}", course.id);
    let mut changed = question.clone();
    changed["questionType"] = json!("LONG_REPLY");
    course.trainer.put(&path, changed.clone()).await.expect_success(Message::QuestionUpdated);
    course.registered().await;
    changed["question"] = json!("Quel repas ?");
    course.trainer.put(&path, changed.clone()).await.expect_success(Message::QuestionUpdated);
    course.trainer.put(&path, question).await.expect_error(ErrorCode::QuestionTypeFixed);
    changed["language"] = json!("AR");
    course.trainer.put(&path, changed).await.expect_error(ErrorCode::QuestionTypeFixed);
    course.trainer.delete(&path).await.expect_success(Message::QuestionDeleted);
}

#[tokio::test]
async fn course_with_active_registrations_cannot_be_archived() {
    let course = Course::with(automatic(3, 0)).await;
    let (member, _) = course.registered().await;
    let path = format!("/courses/{}", course.id);
    course.trainer.delete(&path).await.expect_error(ErrorCode::CourseHasRegistrations);
    let cancel = format!("{}/cancel", course.path_of(&member));
    member.post(&cancel, json!({})).await.expect_success(Message::RegistrationCancelled);
    course.trainer.delete(&path).await.expect_success(Message::CourseArchived);
    course.set(automatic(3, 0)).await.expect_error(ErrorCode::CourseArchived);
}
