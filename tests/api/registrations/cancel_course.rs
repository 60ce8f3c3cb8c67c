use common::{ErrorCode, Message};
use serde_json::json;
use tests::{expect_fields, texts_of};

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
        assert_eq!(subjects[0], "Votre cours est annulé");
    }
    assert_eq!(course.counts().await, [0, 0, 0]);
    course.register(&people[0]).await.expect_error(ErrorCode::CourseCancelled);
    course.set(automatic(9, 9)).await.expect_error(ErrorCode::CourseCancelled);
}

#[tokio::test]
async fn cancelled_course_is_in_no_list_of_all_courses_and_shows_when() {
    let course = Course::with(automatic(2, 5)).await;
    course.world.deliver().await;
    let lists = ["/courses/search-all", "/courses/search-all?q=premiers+secours"];
    for list in lists {
        assert_eq!(
            texts_of(&course.trainer.get(list).await.expect_ok()["courses"], "courseID").len(),
            1
        );
    }
    let cancelled =
        course.trainer.post(&course.path("/cancel-course"), json!({ "reason": "x" })).await;
    let at = cancelled.expect_ok()["registration"]["cancelledAt"].clone();
    let path = format!("/courses/{}", course.id);
    for round in ["as cancelled", "published again"] {
        for list in lists {
            let listed = course.trainer.get(list).await.expect_ok()["courses"].clone();
            assert_eq!(listed, json!([]), "{list}, {round}");
        }
        course.world.deliver().await;
        let shown = course.trainer.get(&path).await.expect_ok()["course"].clone();
        assert_eq!(shown["cancelledAt"], at, "{round}");
        for act in ["to-draft", "publish"] {
            course.trainer.post(&format!("{path}/{act}"), json!({})).await.expect_ok();
        }
    }
    assert_eq!(
        course.world.items_of("WORD#").iter().filter(|item| item["sk"]["S"] != "COUNT").count(),
        0
    );
    let copy = course.trainer.post(&format!("{path}/copy"), json!({})).await.expect_created();
    assert!(copy["course"]["cancelledAt"].is_null());
}
