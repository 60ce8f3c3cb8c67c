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

/// Of courses in every state of registration, of the reader's committee and of another one that is closed.
#[tokio::test]
async fn lists_show_each_course_with_the_availability_of_its_own_path() {
    let full = Course::with(automatic(1, 0)).await;
    let world = &full.world;
    let (confirmed, _) = full.registered().await;
    let manual = Course::in_world(world.clone(), json!({ "mode": "MANUAL", "capacity": 3 })).await;
    manual.register(&confirmed).await.expect_created();
    Course::in_world(world.clone(), json!({ "mode": "AUTOMATIC", "audience": "COMMITTEE" })).await;
    let elsewhere = world.another_committee("Ailleurs", true).await;
    let outsider = world.person(NewPerson::with(Profile::Trainer).of(elsewhere)).await;
    Course::of(outsider.clone(), world.clone(), automatic(5, 5)).await;
    let close = json!({ "isActive": false });
    world.admin().await.put(&format!("/committees/{elsewhere}"), close).await.expect_ok();
    world.deliver().await;
    let unverified = world.person(&NewPerson::with(Profile::Member).unverified()).await;
    for reader in [&confirmed, &full.trainer, &outsider, &unverified] {
        for list in ["search-all", "search-all?q=secourisme", "committee?state=PUBLISHED"] {
            let joint = if list.contains('?') { '&' } else { '?' };
            let answer = reader.get(&format!("/courses/{list}{joint}include=availability")).await;
            // The list of the committee is for verified accounts.
            if answer.status == 403 {
                continue;
            }
            for course in answer.expect_ok()["courses"].as_array().unwrap() {
                let id = course["courseID"].as_str().unwrap();
                let path = format!("/registrations/{id}/availability");
                let mut shown = course["availability"].clone();
                let pending = shown.as_object_mut().unwrap().remove("pending");
                let alone = reader.get(&path).await.expect_ok()["availability"].clone();
                assert_eq!(shown, alone, "{list}: {course}");
                let is_writer = course["createdBy"] == json!(reader.user().user_id);
                let is_manual = id == manual.id;
                assert_eq!(pending, is_writer.then(|| json!(u32::from(is_manual))), "{course}");
            }
        }
    }
}
