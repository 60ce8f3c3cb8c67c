mod archive;
mod change;
mod committee;
mod copy;
mod create;
mod publish;
mod question;
mod questions;
mod search_all;
mod show;
mod to_draft;

use common::Message;
use serde_json::{Value, json};
use tests::{Person, texts_of};

/// A request for a course that can be published.
fn payload(title: &str) -> Value {
    json!({
        "courseTitle": title,
        "description": "Tout ce qu’il faut savoir, en trois jours.",
        "courseType": "ONLINE",
        "sectionOfMatter": "Énergie",
        "contactEmail": "cours@example.org",
    })
}

/// Creates a course; returns the course of the response.
async fn created_course(person: &Person, payload: Value) -> Value {
    person.post("/courses", payload).await.expect_success(Message::CourseCreated)["course"].clone()
}

/// Creates and publishes a course; returns its identifier.
async fn published(person: &Person, title: &str) -> String {
    let id = id_of(&created_course(person, payload(title)).await);
    let answer = person.post(&format!("/courses/{id}/publish"), json!({})).await;
    answer.expect_success(Message::CoursePublished);
    id
}

/// Creates a course; returns its identifier.
async fn draft(person: &Person, title: &str) -> String {
    id_of(&created_course(person, payload(title)).await)
}

fn id_of(course: &Value) -> String {
    course["courseID"].as_str().unwrap().to_owned()
}

/// The titles in a list of courses.
fn titles(body: &Value) -> Vec<String> {
    texts_of(&body["courses"], "courseTitle")
}

/// The courses on all pages of the list at `path`.
async fn walk(person: &Person, path: &str, limit: u32) -> Vec<Value> {
    let joint = if path.contains('?') { '&' } else { '?' };
    person.pages(&format!("{path}{joint}limit={limit}"), "courses").await
}

/// A request for a question of type `SHORT_REPLY`.
fn question(text: &str) -> Value {
    json!({ "language": "FR", "question": text, "questionType": "SHORT_REPLY" })
}

/// The texts of the questions of a course, in order; checks their numbers and their count.
async fn questions_of(person: &Person, id: &str) -> Vec<String> {
    let body = person.get(&format!("/courses/{id}")).await.expect_ok();
    let questions = body["questions"].as_array().unwrap();
    for (number, question) in questions.iter().enumerate() {
        assert_eq!(question["order"], number + 1);
    }
    assert_eq!(body["course"]["questionCount"], questions.len());
    texts_of(&body["questions"], "question")
}
