use common::{ErrorCode, Message};
use serde_json::json;
use tests::expect_fields;

use super::{Course, automatic, subjects};

#[tokio::test]
async fn cancelled_course_ends_all_registrations_and_tells_why() {
    let course = Course::with(automatic(2, 5)).await;
    let mut people = Vec::new();
    for _ in 0..4 {
        people.push(course.registered().await.0);
    }
    let path = course.path("/cancel-course");
    let refused = course.trainer.post(&path, json!({})).await;
    refused.expect_field_error("reason", ErrorCode::FieldRequired);
    let cancelled = course.trainer.post(&path, json!({ "reason": "Formateur souffrant" })).await;
    let cancelled = cancelled.expect_success(Message::CourseCancelled);
    let again = course.trainer.post(&path, json!({ "reason": "x" })).await.expect_ok();
    assert_eq!(again["registration"], cancelled["registration"]);
    course.world.deliver().await;
    for person in &people {
        let seen = course.seen(person).await;
        let expected = json!({ "state": "CANCELLED", "cancelledBy": "COMMITTEE", "reason": "Formateur souffrant" });
        expect_fields(&seen, expected);
        assert_eq!(seen["course"]["cancelledAt"], cancelled["registration"]["cancelledAt"]);
        let subjects = subjects(&course.world, person).await;
        assert_eq!(subjects[0], "Un cours auquel vous étiez inscrit est annulé");
    }
    assert_eq!(course.counts().await, [0, 0, 0]);
    course.register(&people[0]).await.expect_error(ErrorCode::CourseCancelled);
    course.set(automatic(9, 9)).await.expect_error(ErrorCode::CourseCancelled);
}
