use common::{Message, Refusal};
use domain::Profile;
use serde_json::json;
use tests::{Someone, World};

#[tokio::test]
async fn everything_that_is_kept_of_oneself_is_given() {
    let world = World::new().await;
    let member = world.member().await;
    let id = member.user().user_id;
    world.admin().await.put(&format!("/team/{id}"), json!({ "role": "Trésorière" })).await.tells(Message::TeamMemberUpdated);
    let export = member.get(&format!("/users/{id}/export")).await.shows()["export"].clone();
    assert_eq!(export["user"].as_object().unwrap().len(), 18);
    for (list, count) in [("activity", 1), ("sessions", 1), ("audit", 1), ("files", 0), ("courses", 0), ("sms", 0)] {
        assert_eq!(export[list].as_array().unwrap().len(), count, "{list}");
    }
}

#[tokio::test]
async fn nobody_else_gets_it() {
    let world = World::new().await;
    let other = world.account(&Someone::with(Profile::Member)).await;
    for person in [world.member().await, world.admin().await] {
        person.get(&format!("/users/{}/export", other.user_id)).await.refuses(Refusal::Forbidden);
    }
    world.member().await.get("/users/x/export").await.refuses(Refusal::UserNotFound);
}
