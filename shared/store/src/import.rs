//! Bulk import of courses: items in DynamoDB JSON, in the state that they have after the worker has indexed them.

use domain::course::{Course, CourseState};
use serde_json::Value;

use crate::{
    StoreError,
    courses::course_put,
    keys,
    table::{Item, number, value},
    words::entries,
    write::Write,
};

/// The items of `course`: the course and, if it is published, one search entry per term. The caller also has to
/// write a [`count_item`] for each of its [`terms`].
pub fn items_of(course: &Course) -> Result<Vec<Value>, StoreError> {
    let mut item = course_put(course).into_item()?;
    if course.summary.state == CourseState::Published {
        // As the worker leaves it.
        item.retain(|name, _| name != "duePk" && name != "dueAt");
        item.insert("foundBy".to_owned(), value(&terms(course))?);
    }
    let entries = entries(&course.summary).into_iter().map(Write::into_item);
    std::iter::once(Ok(item)).chain(entries).map(|item| json(item?)).collect()
}

/// The terms under which the search index has `course`.
pub fn terms(course: &Course) -> Vec<String> {
    crate::words::terms(&course.summary)
}

/// The item that counts `courses` published courses with `term`.
pub fn count_item(term: &str, courses: u64) -> Result<Value, StoreError> {
    let mut item = keys::term_count(term).item();
    item.insert("n".to_owned(), number(courses));
    json(item)
}

fn json(item: Item) -> Result<Value, StoreError> {
    serde_json::to_value(serde_dynamo::Item::from(item))
        .map_err(|error| StoreError::Unexpected(error.to_string()))
}
