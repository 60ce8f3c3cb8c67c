use common::{ErrorCode, Message};
use serde_json::json;
use tests::expect_fields;

use super::{Course, automatic};

#[tokio::test]
async fn rejected_person_is_told_why_and_cannot_register_again() {
    let course = Course::with(json!({ "mode": "MANUAL" })).await;
    let (member, _) = course.registered().await;
    let path = format!("{}/reject", course.path_of(&member));
    let body = json!({ "reason": "Cours réservé aux débutants" });
    let body = course.trainer.post(&path, body).await.expect_success(Message::RegistrationRejected);
    expect_fields(
        &body["registration"],
        json!({ "state": "REJECTED", "reason": "Cours réservé aux débutants", "version": 2 }),
    );
    let again = course.trainer.post(&path, json!({ "reason": "x" })).await.expect_ok();
    assert_eq!(again["registration"], body["registration"]);
    course.register(&member).await.expect_error(ErrorCode::RegistrationRejected);
    let mails = course.world.mails(member.user().email.as_str()).await;
    assert!(mails[0]["text"].as_str().unwrap().contains("Cours réservé aux débutants"));
    assert_eq!(course.counts().await, [0, 0, 0]);
}

#[tokio::test]
async fn confirmed_and_ended_registrations_cannot_be_rejected() {
    let course = Course::with(automatic(1, 1)).await;
    let (member, _) = course.registered().await;
    let path = course.path_of(&member);
    let reject = format!("{path}/reject");
    let refused = course.trainer.post(&reject, json!({})).await;
    refused.expect_error(ErrorCode::RegistrationConfirmed);
    member.post(&format!("{path}/cancel"), json!({})).await.expect_ok();
    let refused = course.trainer.post(&reject, json!({})).await;
    refused.expect_error(ErrorCode::RegistrationEnded);
}
