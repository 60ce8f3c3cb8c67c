//! Answers and personal data of registrations are deleted when their time is over.

use serde_json::json;
use tests::{Answer, World, expect_fields};

use super::{Course, DAY, automatic};

/// What the trainer sees of the only registration, `days` after the course's end, once the sweep has run.
async fn seen_after(course: &Course, path: &str, days: u32) -> serde_json::Value {
    let clock = course.world.clock();
    clock.advance(DAY * days);
    course.world.sweep().await;
    course.world.deliver().await;
    let trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let answer: Answer = trainer.get(path).await;
    answer.expect_ok()["registration"].clone()
}

#[tokio::test]
async fn answers_end_after_a_year_and_names_after_three() {
    let course = Course::with(automatic(5, 0)).await;
    let question =
        json!({ "language": "FR", "question": "Métier ?", "questionType": "SHORT_REPLY" });
    let question = course.ask(question).await;
    let member = course.world.member().await;
    let body = json!({ "answers": { &question: "Soudeuse" } });
    member.post(&course.path(""), body).await.expect_created();
    course.world.deliver().await;
    let path = course.path_of(&member);
    let name = member.user().name.to_string();
    let before = seen_after(&course, &path, 11 + 364).await;
    assert_eq!(before["answers"][0]["value"], "Soudeuse");
    let without_answers = seen_after(&course, &path, 2).await;
    expect_fields(&without_answers, json!({ "answers": [], "state": "CONFIRMED" }));
    assert_eq!(without_answers["person"]["name"], name.as_str());
    let anonymous = seen_after(&course, &path, 730).await;
    // A change of the committee does not bring the name back.
    let trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let noted = trainer.put(&path, json!({ "note": "Ancienne" })).await.expect_ok();
    assert_eq!(noted["registration"]["person"], anonymous["person"]);
    expect_fields(&anonymous, json!({ "history": [], "number": 1 }));
    expect_fields(
        &anonymous["person"],
        json!({ "name": "Compte", "lastName": "supprimé", "email": null, "phone": null }),
    );
}

#[tokio::test]
async fn answers_of_a_course_without_dates_end_a_year_after_registration() {
    let mut course = Course::in_world(World::new().await, automatic(5, 0)).await;
    let asked = json!({ "language": "FR", "question": "Métier ?", "questionType": "SHORT_REPLY" });
    let asked = course.ask(asked).await;
    course.remove_dates().await;
    course.world.clock().advance(DAY * 400);
    course.trainer = course.world.signed_in(course.trainer.user().clone()).await;
    let member = course.world.member().await;
    let body = json!({ "answers": { &asked: "Soudeuse" } });
    member.post(&course.path(""), body).await.expect_created();
    let path = course.path_of(&member);
    for days in [0, 364] {
        assert_eq!(seen_after(&course, &path, days).await["answers"][0]["value"], "Soudeuse");
    }
    let without_answers = seen_after(&course, &path, 2).await;
    expect_fields(&without_answers, json!({ "answers": [], "state": "CONFIRMED" }));
}
