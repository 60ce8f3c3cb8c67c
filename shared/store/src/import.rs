//! For loading many courses at once, past the stream: the items that the service itself would have
//! written by the time that the dispatcher is done with them, in DynamoDB's JSON.

use domain::course::{Course, State};
use serde_json::Value;

use crate::{
    StoreError,
    courses::course_put,
    keys,
    table::{Item, number, value},
    words::entries,
    write::Write,
};

/// The items of `course`: itself and, while it is published, its entry under each of its words. The words
/// have to be counted, too: [`count_item`].
pub fn items_of(course: &Course) -> Result<Vec<Value>, StoreError> {
    let mut item = course_put(course).into_item()?;
    if course.outline.state == State::Published {
        // The dispatcher has been here.
        item.retain(|name, _| name != "duePk" && name != "dueAt");
        item.insert("foundBy".to_owned(), value(&course.outline.words())?);
    }
    let entries = entries(&course.outline).into_iter().map(Write::into_item);
    std::iter::once(Ok(item))
        .chain(entries)
        .map(|item| json(item?))
        .collect()
}

/// The item that says that `courses` published courses have `word`, which is folded.
pub fn count_item(word: &str, courses: u64) -> Result<Value, StoreError> {
    let mut item = keys::word_count(word).item();
    item.insert("n".to_owned(), number(courses));
    json(item)
}

fn json(item: Item) -> Result<Value, StoreError> {
    serde_json::to_value(serde_dynamo::Item::from(item))
        .map_err(|error| StoreError::Unexpected(error.to_string()))
}
