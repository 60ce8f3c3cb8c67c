use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{Someone, World};

use super::{draft, published, titles};

#[tokio::test]
async fn a_course_that_is_a_draft_again_is_found_by_nobody() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let id = published(&trainer, "Soudure").await;
    world.deliver().await;
    let returned = trainer
        .get(&format!("/courses/{id}/to-draft"))
        .await
        .tells(Message::CourseReturned)["course"]
        .clone();
    assert_eq!(
        (&returned["state"], &returned["version"]),
        (&json!("DRAFT"), &json!(3))
    );
    // at once, before its words are gone
    for list in ["/courses/search-all", "/courses/search-all?q=soudure"] {
        assert_eq!(titles(&trainer.get(list).await.shows()), [""; 0], "{list}");
    }
    world
        .member()
        .await
        .get(&format!("/courses/{id}"))
        .await
        .refuses(ErrorCode::CourseNotFound);
}

#[tokio::test]
async fn a_draft_stays_a_draft() {
    let world = World::new().await;
    let trainer = world.person(Someone::with(Profile::Trainer)).await;
    let id = draft(&trainer, "Soudure").await;
    let told = trainer
        .post(&format!("/courses/{id}/to-draft"), json!({}))
        .await
        .tells(Message::CourseReturned)["course"]
        .clone();
    assert_eq!(
        (&told["state"], &told["version"]),
        (&json!("DRAFT"), &json!(1))
    );
}
