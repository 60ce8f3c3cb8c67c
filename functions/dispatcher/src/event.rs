//! The events of the dispatcher: DynamoDB stream records, or the schedule that runs every minute.

use serde::{Deserialize, Serialize};
use store::keys::{BULK_DUE, UNVERIFIED_DUE};

use crate::Task;

/// A batch of DynamoDB stream records
/// (<https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>). An event without records is a scheduled one.
#[derive(Debug, Clone, Deserialize)]
pub struct Event {
    #[serde(rename = "Records", default)]
    pub(crate) records: Option<Vec<Record>>,
}

/// A change of one item. Only the attribute `duePk` of the new image is read: a kind of work and the number of a shard.
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
    /// The task to perform at once: for a new outbox message, single text message or chunk, an erased user, a
    /// course whose search entries are to be updated, or a deleted file. `None` for work that the sweep does:
    /// messages of batches, retries, and pending uploads.
    pub(crate) fn task(&self) -> Option<Task> {
        let due = self.dynamodb.new_image.as_ref()?.due_pk.as_ref()?;
        let is_new = self.event_name == "INSERT";
        Task::of(&self.dynamodb.keys.pk.text).filter(|task| match task {
            Task::Deliver(_) | Task::Expand(_) => is_new && !due.text.starts_with(BULK_DUE),
            Task::Settle(_) => !is_new,
            Task::Erase(_) => !due.text.starts_with(UNVERIFIED_DUE),
            Task::Index(_) => true,
        })
    }

    pub(crate) fn sequence_number(&self) -> String {
        self.dynamodb.sequence_number.clone()
    }
}

/// The response for a batch of records: the failed ones, which Lambda retries
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
    /// Whether the record with this `sequence_number` failed.
    pub fn has_failed(&self, sequence_number: &str) -> bool {
        self.batch_item_failures
            .iter()
            .any(|failed| failed.item_identifier == sequence_number)
    }

    pub(crate) fn failing(sequence_numbers: impl IntoIterator<Item = String>) -> Self {
        let failures = sequence_numbers
            .into_iter()
            .map(|item_identifier| FailedItem { item_identifier });
        Self {
            batch_item_failures: failures.collect(),
        }
    }
}
