//! The events of both functions: DynamoDB stream records, log events, feedback on mails, or the schedule that runs every
//! minute.

use futures_util::{StreamExt, stream};
use runtime::Error;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use store::keys::DueList;

use crate::{AT_ONCE, MailFeedback};

/// A batch of DynamoDB stream records (<https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>), log events of a
/// CloudWatch Logs subscription filter, an event of SES in EventBridge
/// (<https://docs.aws.amazon.com/ses/latest/dg/monitoring-eventbridge.html>), or, with none of these, the schedule.
#[derive(Debug, Clone, Deserialize)]
pub struct Event {
    /// The records of the stream.
    #[serde(rename = "Records", default)]
    pub records: Option<Vec<Record>>,
    /// The log events, for `worker` alone.
    #[serde(rename = "awslogs", default)]
    pub logs: Option<LogData>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    detail: Option<Detail>,
}

/// The details of an event of EventBridge; the schedule has none.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Detail {
    Feedback(Box<MailFeedback>),
    Other(IgnoredAny),
}

impl Event {
    /// The feedback on a mail, for `worker` alone; `None` in events that are not of SES.
    ///
    /// # Errors
    /// The event is of SES and cannot be read.
    pub fn feedback(&self) -> Result<Option<&MailFeedback>, Error> {
        match &self.detail {
            _ if self.source != "aws.ses" => Ok(None),
            Some(Detail::Feedback(feedback)) => Ok(Some(feedback)),
            Some(Detail::Other(_)) | None => Err("an event of SES cannot be read".into()),
        }
    }
}

/// Log events of one log group
/// (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html#LambdaFunctionExample>).
#[derive(Debug, Clone, Deserialize)]
pub struct LogData {
    /// JSON, compressed with gzip, in base64.
    pub data: String,
}

/// A change of one item. Only the attributes `duePk` and `requestId` of the new image are read.
#[derive(Debug, Clone, Deserialize)]
pub struct Record {
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

#[derive(Debug, Clone, Default, Deserialize)]
struct Image {
    #[serde(rename = "duePk", default)]
    due_pk: Option<Text>,
    #[serde(rename = "requestId", default)]
    request_id: Text,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Text {
    #[serde(rename = "S")]
    text: String,
}

impl Record {
    /// The list of pending work that the item is now in.
    fn list(&self) -> Option<DueList> {
        DueList::of(&self.dynamodb.new_image.as_ref()?.due_pk.as_ref()?.text)
    }

    /// The kind of the item: its partition key up to the id.
    pub fn kind(&self) -> &str {
        let pk = &self.dynamodb.keys.pk.text;
        pk.split_once('#').map_or(pk, |(kind, _)| kind)
    }

    /// Whether the item was created.
    pub fn is_new(&self) -> bool {
        self.event_name == "INSERT"
    }
}

/// Performs the work of `records` whose list and kind of change `is_for_stream` selects, several at once and each once, and
/// returns the records that failed. `perform` gets the list, and the partition key of the item. Work of several records is
/// performed for the request of the first.
pub async fn handle_records<F>(
    records: Vec<Record>,
    is_for_stream: fn(DueList, &Record) -> bool,
    perform: impl Fn(DueList, String) -> F,
) -> BatchResponse
where
    F: Future<Output = Result<(), Error>>,
{
    let mut tasks: Vec<(Vec<String>, (DueList, String), String)> = Vec::new();
    for record in records {
        let Some(list) = record.list().filter(|list| is_for_stream(*list, &record)) else {
            continue;
        };
        let Change { keys, new_image, sequence_number } = record.dynamodb;
        let task = (list, keys.pk.text);
        match tasks.iter_mut().find(|(_, other, _)| *other == task) {
            Some((numbers, ..)) => numbers.push(sequence_number),
            None => {
                let request_id = new_image.unwrap_or_default().request_id.text;
                tasks.push((vec![sequence_number], task, request_id));
            }
        }
    }
    let perform = &perform;
    let results = stream::iter(tasks)
        .map(|(numbers, (list, pk), request_id)| async move {
            (numbers, crate::perform(&pk, &request_id, perform(list, pk.clone())).await)
        })
        .buffered(AT_ONCE)
        .collect::<Vec<_>>()
        .await;
    let mut handled = BatchResponse::default();
    for (numbers, done) in results {
        if done.is_err() {
            let failed = numbers.into_iter().map(|item_identifier| FailedItem { item_identifier });
            handled.batch_item_failures.extend(failed);
        }
    }
    handled
}

/// The response for a batch of records: the failed ones, which Lambda retries
/// (<https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html>).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchResponse {
    batch_item_failures: Vec<FailedItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct FailedItem {
    item_identifier: String,
}

impl BatchResponse {
    /// Whether the record with this `sequence_number` failed.
    pub fn has_failed(&self, sequence_number: &str) -> bool {
        self.batch_item_failures.iter().any(|failed| failed.item_identifier == sequence_number)
    }
}
