use std::time::Duration;

use common::{ErrorCode, Message};
use serde_json::json;
use tests::expect_fields;

use super::{Course, automatic, subjects};

#[tokio::test]
async fn approval_gives_a_seat_or_a_place_in_the_order_of_numbers() {
    let course = Course::with(json!({ "mode": "MANUAL", "capacity": 1, "waitlistLimit": 2 })).await;
    let mut people = Vec::new();
    for _ in 0..4 {
        let (member, registration) = course.registered().await;
        assert_eq!(registration["state"], "PENDING");
        people.push(member);
    }
    let approve = async |index: usize, body| {
        let path = format!("{}/approve", course.path_of(&people[index]));
        course.trainer.post(&path, body).await
    };
    let approved = async |index: usize, body| {
        let body = approve(index, body).await.expect_success(Message::RegistrationApproved);
        body["registration"].clone()
    };
    expect_fields(
        &approved(3, json!({ "version": 1 })).await,
        json!({ "state": "CONFIRMED", "version": 2 }),
    );
    expect_fields(&approved(3, json!({})).await, json!({ "state": "CONFIRMED", "version": 2 }));
    expect_fields(&approved(2, json!({})).await, json!({ "state": "WAITLISTED", "position": 1 }));
    expect_fields(&approved(1, json!({})).await, json!({ "state": "WAITLISTED", "position": 1 }));
    assert_eq!(course.seen(&people[2]).await["position"], 2);
    approve(0, json!({})).await.expect_error(ErrorCode::CourseFull);
    expect_fields(&approved(2, json!({})).await, json!({ "state": "WAITLISTED" }));

    // A seat more passes the order.
    expect_fields(&approved(2, json!({ "addSeat": true })).await, json!({ "state": "CONFIRMED" }));
    let page = course.trainer.get(&format!("/courses/{}", course.id)).await.expect_ok();
    assert_eq!(page["registration"]["capacity"], 2);
    assert_eq!(course.counts().await, [1, 1, 2]);
    approve(0, json!({ "version": 7 })).await.expect_error(ErrorCode::VersionConflict);
    let subjects = subjects(&course.world, &people[2]).await;
    assert_eq!(subjects[0], "Une place s’est libérée pour vous");
    let cancel = format!("{}/cancel", course.path_of(&people[3]));
    course.trainer.post(&cancel, json!({})).await.expect_ok();
    approve(3, json!({})).await.expect_error(ErrorCode::RegistrationEnded);
}

#[tokio::test]
async fn committee_decides_ten_times_an_hour_on_a_registration() {
    let course = Course::with(json!({ "mode": "MANUAL", "capacity": 5, "waitlistLimit": 2 })).await;
    let (member, _) = course.registered().await;
    let path = course.path_of(&member);
    let decide = async |operation: &str| {
        course.trainer.post(&format!("{path}/{operation}"), json!({})).await
    };
    let rounds = ["reject", "approve", "cancel"].into_iter().cycle().take(9);
    for operation in rounds.chain(["cancel"]) {
        decide(operation).await.expect_ok();
        // A repetition changes nothing and is not counted.
        decide(operation).await.expect_ok();
        if operation == "cancel" {
            course.register(&member).await.expect_created();
        }
    }
    for operation in ["approve", "reject", "cancel"] {
        let answer = decide(operation).await;
        answer.expect_error(ErrorCode::TooManyAttempts);
    }
    assert_eq!(course.state(&member).await, "PENDING");
    // Neither the person nor another registration is concerned.
    member.post(&format!("{path}/cancel"), json!({})).await.expect_ok();
    course.register(&member).await.expect_created();
    let other = course.path_of(&course.registered().await.0);
    course.trainer.post(&format!("{other}/approve"), json!({})).await.expect_ok();
    course.world.clock().advance(Duration::from_secs(3600));
    decide("approve").await.expect_success(Message::RegistrationApproved);
}

#[tokio::test]
async fn approval_of_a_rejected_registration_admits_it() {
    let course = Course::with(automatic(1, 0)).await;
    let (first, _) = course.registered().await;
    let cancel = format!("{}/cancel", course.path_of(&first));
    course.set(json!({ "mode": "MANUAL", "capacity": 1 })).await.expect_ok();
    let (member, _) = course.registered().await;
    let path = course.path_of(&member);
    course.trainer.post(&format!("{path}/reject"), json!({})).await.expect_ok();
    let approve = format!("{path}/approve");
    course.trainer.post(&approve, json!({})).await.expect_error(ErrorCode::CourseFull);
    first.post(&cancel, json!({})).await.expect_ok();
    let body = course.trainer.post(&approve, json!({})).await.expect_ok();
    assert_eq!(body["registration"]["state"], "CONFIRMED");
}

#[tokio::test]
async fn approval_with_a_seat_more_is_refused_for_an_archived_course() {
    let course = Course::with(json!({ "mode": "MANUAL", "capacity": 1 })).await;
    let (member, _) = course.registered().await;
    let path = course.path_of(&member);
    course.trainer.post(&format!("{path}/reject"), json!({})).await.expect_ok();
    course.trainer.delete(&format!("/courses/{}", course.id)).await.expect_ok();
    let answer = course.trainer.post(&format!("{path}/approve"), json!({ "addSeat": true })).await;
    answer.expect_error(ErrorCode::CourseArchived);
}

#[tokio::test]
async fn approval_with_a_seat_more_is_refused_at_the_highest_capacity() {
    let course = Course::with(json!({ "mode": "MANUAL", "capacity": 20_000 })).await;
    let (member, _) = course.registered().await;
    let path = format!("{}/approve", course.path_of(&member));
    let refused = course.trainer.post(&path, json!({ "addSeat": true })).await;
    refused.expect_error(ErrorCode::CourseFull);
    let approved = course.trainer.post(&path, json!({})).await.expect_ok();
    assert_eq!(approved["registration"]["state"], "CONFIRMED");
}
