use common::{ErrorCode, Message};
use serde_json::json;
use tests::expect_fields;

use super::{Course, DAY, automatic};

#[tokio::test]
async fn registration_is_hidden_from_others_than_person_and_writers() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, own) = course.registered().await;
    let other = course.world.member().await;
    other.get(&course.path_of(&member)).await.expect_error(ErrorCode::RegistrationNotFound);
    other.get(&course.path_of(&other)).await.expect_error(ErrorCode::RegistrationNotFound);
    assert!(own.get("note").is_none());
    let body = course.trainer.get(&course.path_of(&member)).await.expect_ok();
    assert_eq!(body["registration"].get("note"), Some(&json!(null)));
    let approve = format!("{}/approve", course.path_of(&member));
    member.post(&approve, json!({})).await.expect_error(ErrorCode::Forbidden);
}

#[tokio::test]
async fn changed_answers_keep_absent_ones_and_what_was_asked() {
    let course = Course::with(automatic(5, 0)).await;
    let question =
        |text: &str| json!({ "language": "FR", "question": text, "questionType": "SHORT_REPLY" });
    let [meal, place] =
        [course.ask(question("Repas ?")).await, course.ask(question("Lieu ?")).await];
    let member = course.world.member().await;
    let body = json!({ "answers": { &meal: "Couscous", &place: "Sfax" } });
    member.post(&course.path(""), body).await.expect_created();
    let path = format!("/courses/questions/{}/{meal}", course.id);
    let mut asked = question("Quel repas ?");
    asked["required"] = json!(true);
    course.trainer.put(&path, asked).await.expect_ok();
    let deleted = format!("/courses/questions/{}/{place}", course.id);
    course.trainer.delete(&deleted).await.expect_ok();
    let mut later = question("Transport ?");
    later["required"] = json!(true);
    let later = course.ask(later).await;
    let seen = course.seen(&member).await;
    expect_fields(
        &seen["answers"][0],
        json!({ "question": "Repas ?", "value": "Couscous", "current": false }),
    );
    expect_fields(
        &seen["answers"][1],
        json!({ "question": "Lieu ?", "value": "Sfax", "current": false }),
    );
    assert_eq!(seen["missing"], json!([later]));

    // A question that became required blocks nobody, unless its answer is to be removed.
    let own = course.path_of(&member);
    let cleared = member.put(&own, json!({ "answers": { &meal: null } })).await;
    cleared.expect_field_error(&format!("answers.{meal}"), ErrorCode::FieldRequired);
    let body = member.put(&own, json!({ "answers": { &meal: "Brik" }, "version": 1 })).await;
    let body = body.expect_success(Message::RegistrationUpdated);
    let registration = &body["registration"];
    expect_fields(
        &registration["answers"][0],
        json!({ "question": "Quel repas ?", "value": "Brik", "current": true }),
    );
    assert_eq!(registration["answers"][1]["value"], "Sfax");
    let stale = json!({ "answers": { &meal: "x" }, "version": 1 });
    member.put(&own, stale).await.expect_error(ErrorCode::VersionConflict);
    let gone = member.put(&own, json!({ "answers": { &place: "Tunis" } })).await;
    assert_eq!((gone.status, gone.code().as_str()), (400, "QUESTION_NOT_FOUND_MESSAGE"));
}

#[tokio::test]
async fn note_is_the_committees_and_edits_of_people_end_at_the_start() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let path = course.path_of(&member);
    let ignored = member.put(&path, json!({ "note": 5 })).await.expect_ok();
    assert_eq!(ignored["registration"]["version"], 1);
    let noted = course.trainer.put(&path, json!({ "note": "Végétarien" })).await.expect_ok();
    expect_fields(&noted["registration"], json!({ "note": "Végétarien", "version": 2 }));
    course.world.clock().advance(DAY * 10);
    let (member, trainer) = (
        course.world.signed_in(member.user().clone()).await,
        course.world.signed_in(course.trainer.user().clone()).await,
    );
    member.put(&path, json!({})).await.expect_error(ErrorCode::EditClosed);
    trainer.put(&path, json!({ "note": null })).await.expect_success(Message::RegistrationUpdated);
}

#[tokio::test]
async fn unverified_account_can_do_nothing_with_its_registration() {
    let course = Course::with(automatic(5, 0)).await;
    let (member, _) = course.registered().await;
    let user = course.world.user(member.user().user_id).await;
    course.world.changed_account(&user, |user| user.is_verified = false).await;
    let path = course.path_of(&member);
    let answers = [
        member.get(&path).await,
        member.put(&path, json!({ "answers": {} })).await,
        member.post(&format!("{path}/cancel"), json!({})).await,
        member.get(&format!("{path}/files/x")).await,
        member.get(&format!("{path}/calendar")).await,
        member.get("/registrations/my-registrations").await,
        course.register(&member).await,
    ];
    for answer in answers {
        answer.expect_error(ErrorCode::AccountNotVerified);
    }
}
