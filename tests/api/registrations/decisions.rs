use common::{ErrorCode, Message};
use serde_json::{Value, json};

use super::{Course, subjects};

async fn decide(course: &Course, decisions: Value) -> Value {
    let body = json!({ "decisions": decisions });
    let answer = course.trainer.post(&course.path("/decisions"), body).await;
    answer.expect_success(Message::DecisionsRecorded)["results"].clone()
}

#[tokio::test]
async fn decisions_are_made_in_order_and_a_failed_one_stops_no_other() {
    let course = Course::with(json!({ "mode": "MANUAL", "capacity": 1, "waitlistLimit": 1 })).await;
    let mut people = Vec::new();
    for _ in 0..5 {
        people.push(course.registered().await.0);
    }
    let stranger = course.world.member().await;
    let [first, second, third, fourth, fifth] =
        [0, 1, 2, 3, 4].map(|one| people[one].user().user_id);
    let stranger = stranger.user().user_id;
    let reason = "Ce cours s’adresse aux débutants.";
    let results = decide(
        &course,
        json!([
            { "userID": third, "decision": "APPROVE" },
            { "userID": first, "decision": "REJECT", "reason": reason },
            { "userID": fourth, "decision": "APPROVE", "version": 7 },
            { "userID": stranger, "decision": "APPROVE" },
            { "userID": second, "decision": "APPROVE" },
            { "userID": fifth, "decision": "APPROVE" },
            { "userID": third, "decision": "REJECT" },
            { "userID": first, "decision": "REJECT" },
        ]),
    )
    .await;
    let result = |user, state: Value, code: Value| json!({ "userID": user, "state": state, "RESPONSE_CODE": code });
    let null = Value::Null;
    assert_eq!(
        results,
        json!([
            result(third, json!("CONFIRMED"), null.clone()),
            result(first, json!("REJECTED"), null.clone()),
            result(fourth, json!("PENDING"), json!("VERSION_CONFLICT_MESSAGE")),
            result(stranger, null.clone(), json!("REGISTRATION_NOT_FOUND_MESSAGE")),
            result(second, json!("WAITLISTED"), null.clone()),
            result(fifth, json!("PENDING"), json!("COURSE_FULL_MESSAGE")),
            result(third, json!("CONFIRMED"), json!("REGISTRATION_CONFIRMED_ALREADY_MESSAGE")),
            result(first, json!("REJECTED"), null),
        ])
    );
    assert_eq!(course.seen(&people[0]).await["reason"], reason);
    assert_eq!(course.counts().await, [2, 1, 1]);
    assert_eq!(subjects(&course.world, &people[2]).await.len(), 1, "one mail");
}

#[tokio::test]
async fn malformed_decision_is_named_and_nothing_is_decided() {
    let course = Course::with(json!({ "mode": "MANUAL" })).await;
    let (member, _) = course.registered().await;
    let approval = json!({ "userID": member.user().user_id, "decision": "APPROVE" });
    for (decisions, field, code) in [
        (
            json!([approval, { "userID": "x", "decision": "APPROVE" }]),
            "decisions[1].userID",
            ErrorCode::FieldFormat,
        ),
        (
            json!([approval, { "userID": member.user().user_id, "decision": "CANCEL" }]),
            "decisions[1].decision",
            ErrorCode::FieldValue,
        ),
        (json!([]), "decisions", ErrorCode::FieldRequired),
        (json!(vec![approval.clone(); 101]), "decisions", ErrorCode::FieldLength),
    ] {
        let body = json!({ "decisions": decisions });
        let answer = course.trainer.post(&course.path("/decisions"), body).await;
        answer.expect_field_error(field, code);
    }
    assert_eq!(course.state(&member).await, "PENDING");
    let body = json!({ "decisions": [approval] });
    member.post(&course.path("/decisions"), body).await.expect_error(ErrorCode::Forbidden);
}
