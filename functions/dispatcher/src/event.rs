//! What wakes the dispatcher: records of the table's stream, or the minute's schedule.

use serde::{Deserialize, Serialize};
use store::keys::BULK_DUE;

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
    /// What there is to do about it at once: a new letter or single message, a new chunk, a person or a course
    /// that is marked, a file that is not wanted any more. Messages of batches, later changes of a message, and
    /// a file that is awaited are for the sweeper.
    pub(crate) fn task(&self) -> Option<Task> {
        let due = self.dynamodb.new_image.as_ref()?.due_pk.as_ref()?;
        let is_new = self.event_name == "INSERT";
        Task::of(&self.dynamodb.keys.pk.text).filter(|task| match task {
            Task::Deliver(_) | Task::Expand(_) => is_new && due.text != BULK_DUE,
            Task::Settle(_) => !is_new,
            Task::Index(_) | Task::Forget(_) => true,
        })
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
        let failures = sequence_numbers
            .into_iter()
            .map(|item_identifier| FailedItem { item_identifier });
        Self {
            batch_item_failures: failures.collect(),
        }
    }
}
