mod archive;
mod change;
mod committee;
mod create;
mod publish;
mod question;
mod questions;
mod search_all;
mod show;
mod to_draft;

use common::Message;
use serde_json::{Value, json};
use tests::Person;

/// A course that is ready to be published.
fn wish(title: &str) -> Value {
    json!({
        "courseTitle": title,
        "description": "Tout ce qu’il faut savoir, en trois jours.",
        "courseType": "ONLINE",
        "sectionOfMatter": "Énergie",
        "contactEmail": "cours@example.org",
    })
}

/// What `person` has just begun: the course.
async fn begun(person: &Person, wish: Value) -> Value {
    person
        .post("/courses", wish)
        .await
        .expect_success(Message::CourseCreated)["course"]
        .clone()
}

/// The identifier of a course that `person` has just begun and published.
async fn published(person: &Person, title: &str) -> String {
    let id = id_of(&begun(person, wish(title)).await);
    person
        .post(&format!("/courses/{id}/publish"), json!({}))
        .await
        .expect_success(Message::CoursePublished);
    id
}

/// The identifier of a course that `person` has just begun.
async fn draft(person: &Person, title: &str) -> String {
    id_of(&begun(person, wish(title)).await)
}

fn id_of(course: &Value) -> String {
    course["courseID"].as_str().unwrap().to_owned()
}

/// The titles of the courses that an answer lists.
fn titles(shown: &Value) -> Vec<String> {
    shown["courses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|course| course["courseTitle"].as_str().unwrap().to_owned())
        .collect()
}

/// All courses of the list at `path`, page by page.
async fn walk(person: &Person, path: &str, limit: u32) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    for _ in 0..1000 {
        let joint = if path.contains('?') { '&' } else { '?' };
        let shown = person
            .get(&format!("{path}{joint}limit={limit}{cursor}"))
            .await
            .expect_ok();
        all.extend(shown["courses"].as_array().unwrap().clone());
        match shown["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
    panic!("{path} has no end");
}

/// A short reply of this wording.
fn question(text: &str) -> Value {
    json!({ "language": "FR", "question": text, "questionType": "SHORT_REPLY" })
}

/// The questions of the course, as anybody who sees it is shown them.
async fn questions_of(person: &Person, id: &str) -> Vec<String> {
    let shown = person.get(&format!("/courses/{id}")).await.expect_ok();
    let questions = shown["questions"].as_array().unwrap();
    for (number, question) in questions.iter().enumerate() {
        assert_eq!(question["order"], number + 1);
    }
    assert_eq!(shown["course"]["questionCount"], questions.len());
    questions
        .iter()
        .map(|question| question["question"].as_str().unwrap().to_owned())
        .collect()
}
