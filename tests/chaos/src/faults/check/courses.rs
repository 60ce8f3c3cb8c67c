//! Checks courses, their questions, and searches.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    client::Call,
    promise::{PromiseCheck, Snapshot},
    tables::{text, words},
    virtual_user::VirtualUser,
};

pub(crate) async fn all(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> [PromiseCheck; 3] {
    let (written, counted) = (written(snapshot, users), counted(snapshot));
    [written, counted, found(snapshot, users).await]
}

fn written(snapshot: &Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("courses and questions match the last acknowledged change");
    let mut questions: HashMap<String, Vec<String>> = HashMap::new();
    for item in snapshot.tables.of("COURSE#", "QUESTION#") {
        let course = questions.entry(text(item, "pk")).or_default();
        course.push(text(item, "question"));
    }
    for course in users.iter().flat_map(|user| &user.courses) {
        let pk = format!("COURSE#{}", course.id);
        let item = snapshot.tables.at(&pk, "COURSE");
        let title = item.map(|item| text(&item["card"], "courseTitle"));
        let title = title.unwrap_or_default().replace("Cours ", "");
        let titles = &course.title;
        promise.check(titles.allows(&title), || format!("{pk} is {title:?}, not {titles:?}"));
        let Some(item) = item else { continue };
        let (state, states) = (text(&item["card"], "state"), &course.state);
        let holds = states.all().contains(&state.as_str());
        promise.check(holds, || format!("{pk} is {state}, not {states:?}"));
        let stored = questions.remove(&pk).unwrap_or_default();
        for question in &course.questions {
            let word = &question.word;
            let times = stored.iter().filter(|stored| *stored == word).count();
            let holds = times < 2 && question.exists.allows(&(times == 1));
            promise.check(holds, || format!("the question {word} exists {times} times"));
        }
        let holds = stored.len() <= course.questions.len();
        promise.check(holds, || format!("{pk} has unexpected questions"));
    }
    promise
}

fn counted(snapshot: &Snapshot<'_>) -> PromiseCheck {
    let mut promise = PromiseCheck::of("number, size and order of questions are right");
    let mut questions: HashMap<String, (BTreeSet<String>, usize)> = HashMap::new();
    for item in snapshot.tables.of("COURSE#", "QUESTION#") {
        let mut question = item.clone();
        if let Some(fields) = question.as_object_mut() {
            fields.remove("pk");
            fields.remove("sk");
            fields.remove("version");
        }
        let (ids, bytes) = questions.entry(text(item, "pk")).or_default();
        ids.insert(text(item, "questionID"));
        *bytes += question.to_string().len();
    }
    for item in snapshot.tables.of("COURSE#", "COURSE") {
        let pk = text(item, "pk");
        let (ids, bytes) = questions.remove(&pk).unwrap_or_default();
        let order = snapshot.tables.at(&pk, "ORDER").map(|item| &item["ids"]);
        let ordered = order.and_then(Value::as_array).into_iter().flatten();
        let ordered = ordered.filter_map(|id| Some(id.as_str()?.to_owned()));
        let counted = item["questionBytes"].as_u64().unwrap_or(0);
        let holds = ordered.collect::<BTreeSet<_>>() == ids
            && item["card"]["questionCount"] == ids.len()
            && counted == bytes as u64;
        let count = ids.len();
        promise.check(holds, || {
            format!("{pk} has {count} questions of {bytes} bytes: {item}, order {order:?}")
        });
    }
    let is_empty = questions.is_empty();
    promise.check(is_empty, || format!("questions without a course: {questions:?}"));
    promise
}

async fn found(snapshot: &mut Snapshot<'_>, users: &[VirtualUser]) -> PromiseCheck {
    let mut promise = PromiseCheck::of("search finds the published courses, and no others");
    let token = users.first().map(|user| user.me.last_token()).unwrap_or_default();
    let items = snapshot.tables.of("COURSE#", "COURSE");
    let courses: Vec<Value> = items.map(|item| item["card"].clone()).collect();
    let (mut published, mut titles) = (BTreeSet::new(), BTreeSet::new());
    for course in &courses {
        let (id, title, state) =
            (text(course, "courseID"), text(course, "courseTitle"), &course["state"]);
        let mut expected = BTreeSet::new();
        if state == "PUBLISHED" {
            expected.insert(id.clone());
            published.insert(id);
            titles.insert(title.clone());
        }
        for word in words(&title) {
            let found = search(snapshot, &token, &format!("q={word}&")).await;
            let holds = found == expected;
            promise.check(holds, || format!("{title} is {state}, found: {found:?}"));
        }
    }
    let found = search(snapshot, &token, "").await;
    let differ: Vec<_> = found.symmetric_difference(&published).collect();
    promise.check(differ.is_empty(), || format!("the list of all differs in {differ:?}"));
    // The search index has no entry of a replaced or rejected title.
    for item in snapshot.tables.of("WORD#zq", "AT#") {
        let word = text(item, "pk").trim_start_matches("WORD#").to_owned();
        let holds = titles.contains(&format!("Cours {word}"));
        promise.check(holds, || format!("an index entry of {word} is left"));
    }
    promise
}

/// The courses on all pages of a search.
async fn search(snapshot: &mut Snapshot<'_>, token: &str, query: &str) -> BTreeSet<String> {
    let (mut found, mut cursor) = (BTreeSet::new(), String::new());
    for _ in 0..200 {
        let path = format!("/courses/search-all?{query}limit=100{cursor}");
        let response = snapshot.call(&Call::new("GET", path).with(token)).await;
        let courses = response.body["courses"].as_array().into_iter().flatten();
        found.extend(courses.map(|course| text(course, "courseID")));
        let next = response.text("/nextCursor");
        if next.is_empty() {
            break;
        }
        cursor = format!("&cursor={next}");
    }
    found
}
