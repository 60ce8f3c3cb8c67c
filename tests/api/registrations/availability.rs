use common::ErrorCode;
use domain::{Instant, Profile};
use serde_json::json;
use tests::{NewPerson, expect_fields};

use super::{Course, DAY, automatic};

#[tokio::test]
async fn availability_shows_status_seats_and_times_in_force() {
    let course = Course::with(automatic(1, 1)).await;
    let unverified = NewPerson::with(Profile::Member).unverified();
    let reader = course.world.person(&unverified).await;
    let shown = async || {
        let body = reader.get(&course.path("/availability")).await.expect_ok();
        body["availability"].clone()
    };
    let shown_course = reader.get(&format!("/courses/{}", course.id)).await.expect_ok();
    let start: Instant = serde_json::from_value(shown_course["course"]["startAt"].clone()).unwrap();
    let open = json!({ "status": "OPEN", "capacity": 1, "taken": 0, "free": 1, "waiting": 0, "mine": null });
    expect_fields(&shown().await, open);
    let (member, _) = course.registered().await;
    expect_fields(&shown().await, json!({ "status": "WAITLIST", "free": 0 }));
    course.registered().await;
    expect_fields(&shown().await, json!({ "status": "FULL", "taken": 1, "waiting": 1 }));
    let own = member.get(&course.path("/availability")).await.expect_ok();
    assert_eq!(own["availability"]["mine"], "CONFIRMED");
    for (settings, status) in [
        (json!({ "mode": "NONE" }), "DISABLED"),
        (json!({ "mode": "AUTOMATIC", "opensAt": start }), "NOT_OPEN"),
        (json!({ "mode": "AUTOMATIC", "closesAt": "2026-01-01" }), "CLOSED"),
        (json!({ "mode": "MANUAL", "capacity": 1 }), "OPEN"),
    ] {
        course.set(settings).await.expect_ok();
        assert_eq!(shown().await["status"], status);
    }
    // The committee decides before the start.
    course.set(json!({ "mode": "MANUAL", "closesAt": start.after(DAY) })).await.expect_ok();
    assert_eq!(shown().await["closesAt"], json!(start));
    course.set(json!({ "mode": "AUTOMATIC", "closesAt": start.after(DAY) })).await.expect_ok();
    assert_eq!(shown().await["closesAt"], json!(start.after(DAY)));
    reader.get(&course.path_of(&reader)).await.expect_error(ErrorCode::AccountNotVerified);
}
