//! What wakes the dispatcher: records of the table's stream, or the minute's schedule.

use domain::UserId;
use serde::{Deserialize, Serialize};

use crate::Task;

/// Records of a DynamoDB stream
/// (<https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>); anything without records is the
/// schedule's.
#[derive(Debug, Clone, Deserialize)]
pub struct Event {
    #[serde(rename = "Records", default)]
    pub(crate) records: Option<Vec<Record>>,
}

/// One change of one item. Of its images only the attribute is read that marks work.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Record {
    #[serde(rename = "eventName")]
    event_name: String,
    dynamodb: Change,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Change {
    keys: Keys,
    #[serde(default)]
    new_image: Option<Image>,
    sequence_number: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Keys {
    pk: Text,
}

#[derive(Debug, Clone, Deserialize)]
struct Image {
    #[serde(rename = "duePk", default)]
    due_pk: Option<Text>,
}

#[derive(Debug, Clone, Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
}

impl Record {
    /// What there is to do about it: a new message, a person or a course that is marked, a file that is not
    /// wanted any more. Later changes of a message, and a file that is awaited, are for the sweeper.
    pub(crate) fn task(&self) -> Option<Task> {
        self.dynamodb.new_image.as_ref()?.due_pk.as_ref()?;
        let (pk, is_new) = (&self.dynamodb.keys.pk.text, self.event_name == "INSERT");
        let message = store::outbox_id(pk).filter(|_| is_new).map(Task::Deliver);
        let file = store::file_id(pk).filter(|_| !is_new).map(Task::Settle);
        let course = store::course_id(pk).map(Task::Index);
        let person = pk.strip_prefix("USER#").map(|id| Task::Forget(UserId::in_path(id)));
        message.or(file).or(course).or(person)
    }

    /// By which the stream knows it.
    pub(crate) fn sequence_number(&self) -> String {
        self.dynamodb.sequence_number.clone()
    }
}

/// Which records are to be brought again
/// (<https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html>).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Handled {
    batch_item_failures: Vec<FailedItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct FailedItem {
    item_identifier: String,
}

impl Handled {
    pub(crate) fn failing(sequence_numbers: impl IntoIterator<Item = String>) -> Self {
        let failures = sequence_numbers.into_iter().map(|item_identifier| FailedItem { item_identifier });
        Self { batch_item_failures: failures.collect() }
    }
}
