//! What the audit says of a committee's changes.

use serde_json::{Value, json};
use tests::expect_fields;

use super::{Course, automatic};

#[tokio::test]
async fn changes_of_the_committee_are_audited_without_answers() {
    let course = Course::with(automatic(1, 5)).await;
    let asked = json!({ "language": "FR", "question": "Repas ?", "questionType": "SHORT_REPLY" });
    let asked = course.ask(asked).await;
    let mut people = Vec::new();
    for _ in 0..3 {
        people.push(course.registered().await.0);
    }
    let post = async |person: usize, operation: &str, body: Value| {
        let path = format!("{}/{operation}", course.path_of(&people[person]));
        course.trainer.post(&path, body).await.expect_ok();
    };
    let changed = json!({ "answers": { &asked: "Couscous" }, "note": "Végétarienne" });
    course.trainer.put(&course.path_of(&people[0]), changed).await.expect_ok();
    post(1, "approve", json!({ "addSeat": true })).await;
    post(2, "reject", json!({ "reason": "Trop tard" })).await;
    post(0, "cancel", json!({ "reason": "Absente" })).await;
    course.set(json!({ "mode": "MANUAL", "capacity": 2 })).await.expect_ok();
    let reason = json!({ "reason": "Salle fermée" });
    course.trainer.post(&course.path("/cancel-course"), reason).await.expect_ok();

    // Their own changes are in their history, not in the audit.
    let cancel = format!("{}/cancel", course.path_of(&people[1]));
    people[1].post(&cancel, json!({})).await.expect_ok();
    let audit = course.world.admin().await.get("/audit").await.expect_ok()["audit"].clone();
    let on_person = |number: usize, values: Value| {
        let mut after = json!({ "courseID": course.id });
        after.as_object_mut().unwrap().extend(values.as_object().unwrap().clone());
        let id = people[number].user().user_id;
        json!({ "targetType": "USER", "targetID": id, "before": null, "after": after })
    };
    let on_course = json!({ "targetType": "COURSE", "targetID": course.id });
    let (before, after) = (&audit[1]["before"], &audit[1]["after"]);
    // The seat that the approval added is the second one of these settings.
    assert_eq!(json!([before["mode"], before["capacity"]]), json!(["AUTOMATIC", null]));
    assert_eq!(json!([after["mode"], after["capacity"]]), json!(["MANUAL", null]));
    let (reason, none) = (json!({ "reason": "Salle fermée" }), json!(null));
    assert_eq!(json!([audit[0]["before"], audit[0]["after"]]), json!([none, reason]));
    for (number, action, expected) in [
        (0, "COURSE_CANCELLED", on_course.clone()),
        (1, "REGISTRATION_SETTINGS_UPDATED", on_course),
        (2, "REGISTRATION_CANCELLED", on_person(0, json!({ "state": "CANCELLED" }))),
        (3, "REGISTRATION_REJECTED", on_person(2, json!({ "state": "REJECTED" }))),
        (
            4,
            "REGISTRATION_APPROVED",
            on_person(1, json!({ "state": "CONFIRMED", "addSeat": true })),
        ),
        (
            5,
            "REGISTRATION_UPDATED",
            on_person(0, json!({ "state": "CONFIRMED", "answers": [asked], "note": true })),
        ),
    ] {
        let entry = &audit[number];
        assert_eq!(
            json!([entry["action"], entry["actorID"]]),
            json!([action, course.trainer.user().user_id])
        );
        expect_fields(entry, expected);
    }
}

#[tokio::test]
async fn changes_of_a_course_and_its_questions_are_audited_with_their_fields() {
    let mut settings = automatic(5, 5);
    settings["joinInfo"] = json!("Salle 2");
    let course = Course::with(settings).await;
    let asked = json!({ "language": "FR", "question": "Repas ?", "questionType": "SHORT_REPLY" });
    let (asked, unasked) = (course.ask(asked.clone()).await, course.ask(asked).await);
    let path = |id: &str| format!("/courses/questions/{}/{id}", course.id);
    let text =
        |text: &str| json!({ "language": "FR", "question": text, "questionType": "SHORT_REPLY" });
    course.trainer.put(&path(&unasked), text("Avant ?")).await.expect_ok();
    course.registered().await;
    course.trainer.put(&path(&asked), text("Quel repas ?")).await.expect_ok();
    course.trainer.delete(&path(&unasked)).await.expect_ok();
    let path = format!("/courses/{}", course.id);
    let mut changed = course.trainer.get(&path).await.expect_ok()["course"].clone();
    let start = changed["startAt"].clone();
    changed["startAt"] = json!(null);
    changed["contactEmail"] = json!("autre@example.org");
    course.trainer.put(&path, changed).await.expect_ok();

    let audit = course.world.admin().await.get("/audit").await.expect_ok()["audit"].clone();
    let on_course = |action: &str, before: Value, after: Value| {
        json!({
            "action": action, "targetType": "COURSE", "targetID": course.id,
            "before": before, "after": after,
        })
    };
    let fields = |email: &str, start: Value| json!({ "contactEmail": email, "startAt": start });
    expect_fields(
        &audit[0],
        on_course("COURSE_UPDATED", fields("***", start), fields("***", json!(null))),
    );
    expect_fields(&audit[1], json!({ "action": "QUESTION_DELETED", "after": null }));
    expect_fields(
        &audit[1]["before"],
        json!({ "question": "Avant ?", "questionID": unasked, "required": false }),
    );
    expect_fields(
        &audit[2],
        on_course(
            "QUESTION_UPDATED",
            json!({ "question": "Repas ?", "questionID": asked }),
            json!({ "question": "Quel repas ?" }),
        ),
    );
    let settings = &audit[3];
    assert_eq!(settings["action"], "REGISTRATION_SETTINGS_UPDATED", "not before the first one");
    assert_eq!(settings["after"]["joinInfo"], "***");
}
