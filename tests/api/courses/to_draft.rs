use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::World;

use super::{draft, published, titles};

#[tokio::test]
async fn course_returned_to_draft_is_no_longer_found() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = published(&trainer, "Soudure").await;
    world.deliver().await;
    let answer = trainer.get(&format!("/courses/{id}/to-draft")).await;
    let returned = answer.expect_success(Message::CourseReturned)["course"].clone();
    assert_eq!((&returned["state"], &returned["version"]), (&json!("DRAFT"), &json!(3)));
    // immediately, before its words are removed from the index
    for list in ["/courses/search-all", "/courses/search-all?q=soudure"] {
        assert_eq!(titles(&trainer.get(list).await.expect_ok()), [""; 0], "{list}");
    }
    let answer = world.member().await.get(&format!("/courses/{id}")).await;
    answer.expect_error(ErrorCode::CourseNotFound);
}

#[tokio::test]
async fn draft_to_draft_changes_nothing() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    let id = draft(&trainer, "Soudure").await;
    let answer = trainer.post(&format!("/courses/{id}/to-draft"), json!({})).await;
    let course = answer.expect_success(Message::CourseReturned)["course"].clone();
    assert_eq!((&course["state"], &course["version"]), (&json!("DRAFT"), &json!(1)));
}
