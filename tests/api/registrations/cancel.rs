use std::time::Duration;

use common::{ErrorCode, Message};
use serde_json::json;
use tests::{Person, expect_fields};

use super::{Course, DAY, automatic, subjects};

#[tokio::test]
async fn cancelled_seat_goes_to_the_first_who_waits() {
    let course = Course::with(automatic(1, 5)).await;
    let (first, _) = course.registered().await;
    let (second, _) = course.registered().await;
    let (third, _) = course.registered().await;
    let path = format!("{}/cancel", course.path_of(&first));
    let body = first.post(&path, json!({ "reason": "x" })).await;
    let body = body.expect_success(Message::RegistrationCancelled);
    expect_fields(
        &body["registration"],
        json!({ "state": "CANCELLED", "cancelledBy": "PERSON", "reason": null }),
    );
    // Nobody passes those who wait.
    let (fourth, registration) = course.registered().await;
    assert_eq!(registration["state"], "WAITLISTED");
    course.world.deliver().await;
    assert_eq!(course.state(&second).await, "CONFIRMED");
    expect_fields(&course.seen(&third).await, json!({ "state": "WAITLISTED", "position": 1 }));
    assert_eq!(course.state(&fourth).await, "WAITLISTED");
    let again = first.post(&path, json!({})).await.expect_ok();
    assert_eq!(again["registration"], body["registration"]);
    let mails = subjects(&course.world, &second).await;
    assert_eq!(mails, ["Une place s’est libérée pour vous", "Vous êtes sur la liste d’attente"]);
    assert_eq!(course.counts().await, [0, 2, 1]);
}

#[tokio::test]
async fn deadline_binds_confirmed_people_only() {
    let mut settings = automatic(1, 5);
    settings["cancelUntil"] = json!("2026-01-01");
    let course = Course::with(settings).await;
    let (confirmed, _) = course.registered().await;
    let (waiting, _) = course.registered().await;
    let path = format!("{}/cancel", course.path_of(&confirmed));
    let refused = confirmed.post(&path, json!({})).await;
    refused.expect_error(ErrorCode::CancellationClosed);
    let own = format!("{}/cancel", course.path_of(&waiting));
    waiting.post(&own, json!({})).await.expect_success(Message::RegistrationCancelled);
    let body = course.trainer.post(&path, json!({ "reason": "Absence" })).await.expect_ok();
    expect_fields(
        &body["registration"],
        json!({ "state": "CANCELLED", "cancelledBy": "COMMITTEE", "reason": "Absence" }),
    );
}

#[tokio::test]
async fn people_who_wait_expire_when_the_course_starts() {
    let course = Course::with(automatic(1, 5)).await;
    let (confirmed, _) = course.registered().await;
    let (waiting, _) = course.registered().await;
    course.world.deliver().await;
    course.world.clock().advance(DAY * 10);
    course.world.sweep().await;
    course.world.deliver().await;
    let seen = async |person: &tests::Person| {
        let person = course.world.signed_in(person.user().clone()).await;
        course.state(&person).await
    };
    assert_eq!(seen(&confirmed).await, "CONFIRMED");
    assert_eq!(seen(&waiting).await, "EXPIRED");
    assert_eq!(subjects(&course.world, &waiting).await[0], "Aucune place ne s’est libérée");
    let waiting = course.world.signed_in(waiting.user().clone()).await;
    let path = format!("{}/cancel", course.path_of(&waiting));
    waiting.post(&path, json!({})).await.expect_error(ErrorCode::RegistrationEnded);
}

#[tokio::test]
async fn registration_says_until_when_and_what_the_caller_can_do() {
    let course = Course::with(automatic(1, 5)).await;
    let start = course.world.clock().now().after(DAY * 10);
    let deadline = course.world.clock().now().after(DAY);
    let mut settings = automatic(1, 5);
    settings["cancelUntil"] = json!(deadline);
    course.set(settings).await.expect_ok();
    let (confirmed, waiting) = (course.registered().await.0, course.registered().await.0);
    let seen = async |caller: &Person, path: &str| {
        let seen = caller.get(&course.path(path)).await.expect_ok()["registration"].clone();
        [seen["cancelUntil"].clone(), seen["canCancel"].clone(), seen["canEdit"].clone()]
    };
    let of_confirmed = format!("/{}", confirmed.user().user_id);
    assert_eq!(seen(&confirmed, "/me").await, [json!(deadline), json!(true), json!(true)]);
    let until_start = seen(&waiting, "/me").await;
    assert_eq!(until_start[1..], [json!(true), json!(true)]);
    assert!(until_start[0].as_str().unwrap() <= json!(start.after(DAY)).as_str().unwrap());
    // Sessions end before.
    let again = async |person: &Person| course.world.signed_in(person.user().clone()).await;
    course.world.clock().advance(DAY + Duration::from_secs(1));
    let (confirmed, trainer) = (again(&confirmed).await, again(&course.trainer).await);
    assert_eq!(seen(&confirmed, "/me").await, [json!(deadline), json!(false), json!(true)]);
    assert_eq!(seen(&trainer, &of_confirmed).await, [json!(deadline), json!(true), json!(true)]);
    let listed = confirmed.get("/registrations/my-registrations").await.expect_ok();
    assert_eq!(listed["registrations"][0]["canCancel"], false);
    course.world.clock().advance(DAY * 10);
    let (confirmed, trainer) = (again(&confirmed).await, again(&trainer).await);
    assert_eq!(seen(&confirmed, "/me").await[2], false);
    assert_eq!(seen(&trainer, &of_confirmed).await[2], true);
    trainer.post(&course.path(&format!("{of_confirmed}/cancel")), json!({})).await.expect_ok();
    assert_eq!(seen(&confirmed, "/me").await, [json!(null), json!(false), json!(false)]);
}
