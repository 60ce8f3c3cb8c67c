//! Courses, their questions, and whether they are found.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::{
    actor::Actor,
    check::{Evening, Finding},
    client::Ask,
    tables::{text, words},
};

pub(crate) async fn all(evening: &mut Evening<'_>, people: &[Actor]) -> Vec<Finding> {
    let mut findings = vec![written(evening, people), weighed(evening)];
    findings.push(found(evening, people).await);
    findings
}

fn written(evening: &Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("courses and questions say what was acknowledged last");
    let mut questions: HashMap<String, Vec<String>> = HashMap::new();
    for item in evening.tables.of("COURSE#", "QUESTION#") {
        questions
            .entry(text(item, "pk"))
            .or_default()
            .push(text(item, "question"));
    }
    for course in people.iter().flat_map(|person| &person.courses) {
        let pk = format!("COURSE#{}", course.id);
        let item = evening.tables.at(&pk, "COURSE");
        let title = item
            .map(|item| text(&item["card"], "courseTitle").replace("Cours ", ""))
            .unwrap_or_default();
        finding.look(course.title.may_be(&title), || {
            format!("{pk} is called {title:?}, not {:?}", course.title)
        });
        let Some(item) = item else { continue };
        let state = text(&item["card"], "state");
        finding.look(course.state.all().contains(&state.as_str()), || {
            format!("{pk} is {state}, not {:?}", course.state)
        });
        let there = questions.remove(&pk).unwrap_or_default();
        for question in &course.questions {
            let times = there.iter().filter(|word| **word == question.word).count();
            let is_good = times < 2 && question.is_there.may_be(&(times == 1));
            finding.look(is_good, || {
                format!("the question {} is there {times} times", question.word)
            });
        }
        finding.look(there.len() <= course.questions.len(), || {
            format!("{pk} has questions that nobody asked")
        });
    }
    finding
}

fn weighed(evening: &Evening<'_>) -> Finding {
    let mut finding = Finding::of("questions are counted, weighed and in order");
    let mut questions: HashMap<String, (BTreeSet<String>, usize)> = HashMap::new();
    for item in evening.tables.of("COURSE#", "QUESTION#") {
        let mut bare = item.clone();
        if let Some(fields) = bare.as_object_mut() {
            fields.remove("pk");
            fields.remove("sk");
        }
        let (ids, bytes) = questions.entry(text(item, "pk")).or_default();
        ids.insert(text(item, "questionID"));
        *bytes += bare.to_string().len();
    }
    for item in evening.tables.of("COURSE#", "COURSE") {
        let pk = text(item, "pk");
        let (ids, bytes) = questions.remove(&pk).unwrap_or_default();
        let order = evening
            .tables
            .at(&pk, "ORDER")
            .map(|item| item["ids"].clone())
            .unwrap_or_default();
        let ordered: BTreeSet<String> = order
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|id| Some(id.as_str()?.to_owned()))
            .collect();
        let weighed = item["questionBytes"].as_u64().unwrap_or(0);
        let is_good =
            ordered == ids && item["card"]["questionCount"] == ids.len() && weighed == bytes as u64;
        finding.look(is_good, || {
            format!(
                "{pk} has {} questions of {bytes} bytes: {item}, order {order}",
                ids.len()
            )
        });
    }
    finding.look(questions.is_empty(), || {
        format!("questions without a course: {questions:?}")
    });
    finding
}

async fn found(evening: &mut Evening<'_>, people: &[Actor]) -> Finding {
    let mut finding = Finding::of("who searches finds the published courses, no others");
    let token = people
        .first()
        .and_then(|person| person.me.sessions.last())
        .map(|session| session.token.clone())
        .unwrap_or_default();
    let courses: Vec<Value> = evening
        .tables
        .of("COURSE#", "COURSE")
        .map(|item| item["card"].clone())
        .collect();
    let mut published = BTreeSet::new();
    for course in &courses {
        let (id, title) = (text(course, "courseID"), text(course, "courseTitle"));
        let expected: BTreeSet<String> = (course["state"] == "PUBLISHED")
            .then(|| id.clone())
            .into_iter()
            .collect();
        published.extend(expected.clone());
        for word in words(&title) {
            let found = walk(evening, &token, &format!("q={word}&")).await;
            finding.look(found == expected, || {
                format!("{title} is {}, and {found:?} is found", course["state"])
            });
        }
    }
    let found = walk(evening, &token, "").await;
    let differ: Vec<_> = found.symmetric_difference(&published).collect();
    finding.look(differ.is_empty(), || {
        format!("the list of all differs in {differ:?}")
    });
    // A title that was replaced, or refused, is nobody's.
    let current: BTreeSet<String> = courses
        .iter()
        .filter(|course| course["state"] == "PUBLISHED")
        .map(|course| text(course, "courseTitle"))
        .collect();
    for item in evening.tables.of("WORD#zq", "AT#") {
        let word = text(item, "pk").trim_start_matches("WORD#").to_owned();
        finding.look(current.contains(&format!("Cours {word}")), || {
            format!("an entry is left of {word}")
        });
    }
    finding
}

async fn walk(evening: &mut Evening<'_>, token: &str, query: &str) -> BTreeSet<String> {
    let (mut found, mut cursor) = (BTreeSet::new(), String::new());
    for _ in 0..200 {
        let heard = evening
            .ask(
                &Ask::new(
                    "GET",
                    format!("/courses/search-all?{query}limit=100{cursor}"),
                )
                .with(token),
            )
            .await;
        found.extend(
            heard.body["courses"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|course| text(course, "courseID")),
        );
        let next = heard.text("/nextCursor");
        if next.is_empty() {
            break;
        }
        cursor = format!("&cursor={next}");
    }
    found
}
