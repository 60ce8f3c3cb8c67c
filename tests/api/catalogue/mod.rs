mod list;
mod races;
mod show;

use common::Message;
use serde_json::{Value, json};
use tests::{Person, World, texts_of};

/// Creates and publishes a course with the fields of `content`; returns its identifier.
async fn announced(person: &Person, content: Value) -> String {
    let mut course = json!({
        "courseTitle": "Soudure", "description": "Tout ce qu’il faut savoir, en trois jours.",
        "courseType": "ONLINE", "sectionOfMatter": "Énergie", "contactEmail": "cours@example.org",
    });
    for (field, value) in content.as_object().unwrap() {
        course[field] = value.clone();
    }
    let created = person.post("/courses", course).await.expect_success(Message::CourseCreated);
    let id = created["course"]["courseID"].as_str().unwrap().to_owned();
    let answer = person.post(&format!("/courses/{id}/publish"), json!({})).await;
    answer.expect_success(Message::CoursePublished);
    id
}

/// The titles on all pages of the catalogue at `path`, with pages of `limit`.
async fn titles(world: &World, query: &str, limit: u32) -> Vec<String> {
    let path = format!("/catalogue?limit={limit}&{query}");
    let courses = world.anonymous().pages(&path, "courses").await;
    texts_of(&json!(courses), "courseTitle")
}
