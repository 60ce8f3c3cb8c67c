use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::World;

use super::{payload, published, question, titles};

#[tokio::test]
async fn archived_course_leaves_lists_and_cannot_be_changed() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = published(&trainer, "Soudure").await;
    let path = format!("/courses/{id}");
    trainer
        .post(&format!("/courses/questions/{id}"), json!({ "questions": [question("Pourquoi ?")] }))
        .await
        .expect_ok();
    let answer = trainer.get(&path).await;
    let question_id = answer.expect_ok()["questions"][0]["questionID"].as_str().unwrap().to_owned();
    world.deliver().await;
    let archived = trainer.delete(&path).await.expect_ok()["course"].clone();
    assert_eq!(archived["state"], "ARCHIVED");
    assert_eq!(
        trainer.delete(&path).await.expect_success(Message::CourseArchived)["course"],
        archived,
        "a second call changes nothing"
    );
    world.deliver().await;
    for list in [
        "/courses/search-all",
        "/courses/search-all?q=soudure",
        "/courses/committee",
        "/courses/committee?state=PUBLISHED",
    ] {
        assert_eq!(titles(&trainer.get(list).await.expect_ok()), [""; 0], "{list}");
    }
    assert_eq!(
        titles(&trainer.get("/courses/committee?state=ARCHIVED").await.expect_ok()),
        ["Soudure"]
    );
    trainer.put(&path, payload("Brasage")).await.expect_error(ErrorCode::CourseArchived);
    for word in ["publish", "to-draft"] {
        let answer = trainer.post(&format!("{path}/{word}"), json!({})).await;
        answer.expect_error(ErrorCode::CourseArchived);
    }
    let questions = format!("/courses/questions/{id}");
    let answer = trainer.post(&questions, json!({ "questions": [question("Comment ?")] })).await;
    answer.expect_error(ErrorCode::CourseArchived);
    let answer = trainer.put(&format!("{questions}/{question_id}"), question("Comment ?")).await;
    answer.expect_error(ErrorCode::CourseArchived);
    let answer = trainer.delete(&format!("{questions}/{question_id}")).await;
    answer.expect_error(ErrorCode::CourseArchived);
    assert_eq!(
        trainer.get(&format!("{questions}/{question_id}")).await.expect_ok()["question"]["question"],
        "Pourquoi ?"
    );
}

#[tokio::test]
async fn state_changes_are_in_the_audit() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let admin = world.person(Profile::CommitteeAdmin).await;
    let id = published(&trainer, "Soudure").await;
    admin.get(&format!("/courses/{id}/to-draft")).await.expect_success(Message::CourseReturned);
    admin.delete(&format!("/courses/{id}")).await.expect_success(Message::CourseArchived);
    let audit = admin.get("/audit").await.expect_ok()["audit"].clone();
    let facts = |number: usize| {
        let entry = &audit[number];
        assert_eq!(
            (&entry["targetType"], &entry["targetID"], &entry["committeeID"]),
            (&json!("COURSE"), &json!(id), &json!(world.committee()))
        );
        json!([
            entry["actorID"],
            entry["action"],
            entry["before"]["state"],
            entry["after"]["state"]
        ])
    };
    let (trainer_id, admin_id) = (trainer.user().user_id, admin.user().user_id);
    assert_eq!(facts(0), json!([admin_id, "COURSE_ARCHIVED", "DRAFT", "ARCHIVED"]));
    assert_eq!(facts(1), json!([admin_id, "COURSE_RETURNED_TO_DRAFT", "PUBLISHED", "DRAFT"]));
    assert_eq!(facts(2), json!([trainer_id, "COURSE_PUBLISHED", "DRAFT", "PUBLISHED"]));
    assert_eq!(audit.as_array().unwrap().len(), 3);
    let own = admin.get(&format!("/audit?userID={trainer_id}")).await.expect_ok();
    assert_eq!(own["audit"].as_array().unwrap().len(), 1);
}
