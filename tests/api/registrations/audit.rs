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
