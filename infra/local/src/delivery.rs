//! Invokes the dispatcher, as the stream and the schedule do on AWS.
//!
//! With the fault [`Repeat`](crate::faults::Mode::Repeat) the stream does what Lambda documents: it delivers each
//! record once more with a later batch, in another order except for records of the same item, and every batch begins
//! with a poisoned record, so that it is retried (<https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>).

use std::{cmp::Reverse, time::Duration};

use dispatcher::{Dispatcher, Event, Handled};
use serde_json::{Value, json};
use store::keys::CHUNKS_DUE;

use crate::{
    LocalError,
    cloud::Cloud,
    faults::{GET_RECORDS, Service},
};

/// The interval between reads of the stream.
const POLL_INTERVAL: Duration = Duration::from_millis(150);
/// The interval of the sweep; a minute on AWS, shorter here for developers who watch.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
/// How often a batch with a failed record is retried: `MaximumRetryAttempts` in the template.
const RETRIES: usize = 3;

/// Passes the stream records of `cloud` to the dispatcher and starts its sweep regularly, until the future is dropped.
pub async fn run(cloud: Cloud, dispatcher: Dispatcher) {
    let sweeps = async {
        let mut ticks = tokio::time::interval(SWEEP_INTERVAL);
        loop {
            ticks.tick().await;
            warn(sweep(&dispatcher).await);
        }
    };
    let polls = async {
        let mut ticks = tokio::time::interval(POLL_INTERVAL);
        loop {
            ticks.tick().await;
            warn(deliver(&cloud, &dispatcher).await.map(|_| ()));
        }
    };
    // Concurrently, as on AWS: stream records do not wait for a batch that is being sent.
    let ((), ()) = tokio::join!(sweeps, polls);
}

fn warn(done: Result<(), LocalError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the dispatcher could not be invoked");
    }
}

/// Passes the new stream records to the dispatcher, and then those that a fault kept for another delivery. Returns
/// their number.
///
/// # Errors
/// As [`Cloud::stream_event`].
pub async fn deliver(cloud: &Cloud, dispatcher: &Dispatcher) -> Result<usize, LocalError> {
    let records = match cloud.stream_event()?["Records"].take() {
        Value::Array(records) => records,
        _ => Vec::new(),
    };
    let is_repeated = !records.is_empty()
        && cloud
            .faults()
            .inject_fault(Service::Stream, GET_RECORDS)
            .is_some();
    let kept = if is_repeated {
        records.clone()
    } else {
        Vec::new()
    };
    let mut late = cloud.exchange_late_records(kept);
    let count = records.len() + late.len();
    if is_repeated {
        deliver_poisoned(dispatcher, records).await?;
    } else if !records.is_empty() {
        invoke(dispatcher, &records).await?;
    }
    if !late.is_empty() {
        // Stable: the records of one item stay in order.
        late.sort_by_key(|record| Reverse(item_of(record)));
        deliver_poisoned(dispatcher, late).await?;
    }
    Ok(count)
}

/// Passes a batch of a poisoned record and `records` to the dispatcher. As long as one fails, it is retried from the
/// first failed one, also those behind it that succeeded
/// (<https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html>).
async fn deliver_poisoned(
    dispatcher: &Dispatcher,
    mut records: Vec<Value>,
) -> Result<(), LocalError> {
    records.insert(0, poisoned_record());
    for _ in 0..=RETRIES {
        let handled = invoke(dispatcher, &records).await?;
        let has_failed = |record: &Value| {
            let number = record["dynamodb"]["SequenceNumber"].as_str();
            number.is_some_and(|number| handled.has_failed(number))
        };
        let Some(first) = records.iter().position(has_failed) else {
            break;
        };
        records.drain(..first);
    }
    Ok(())
}

/// A record whose handling always fails: DynamoDB refuses to read a partition key of more than 2,048 bytes.
fn poisoned_record() -> Value {
    json!({
        "eventName": "INSERT",
        "dynamodb": {
            "Keys": { "pk": { "S": format!("CHUNK#{}", "x".repeat(2048)) } },
            "NewImage": { "duePk": { "S": format!("{CHUNKS_DUE}#00") } },
            "SequenceNumber": "poisoned",
        },
    })
}

/// The primary key of the item that `record` is about.
fn item_of(record: &Value) -> [String; 2] {
    ["pk", "sk"].map(|name| record["dynamodb"]["Keys"][name].to_string())
}

async fn invoke(dispatcher: &Dispatcher, records: &[Value]) -> Result<Handled, LocalError> {
    let event = read(json!({ "Records": records }))?;
    Ok(dispatcher.clone().handle(event).await)
}

/// Starts the sweep, in which the dispatcher processes due work, as the schedule does every minute on AWS.
///
/// # Errors
/// None: the event is well-formed.
pub async fn sweep(dispatcher: &Dispatcher) -> Result<(), LocalError> {
    dispatcher
        .clone()
        .handle(read(json!({ "source": "aws.scheduler" }))?)
        .await;
    Ok(())
}

fn read(event: Value) -> Result<Event, LocalError> {
    serde_json::from_value(event).map_err(|error| {
        LocalError::new(format!("The dispatcher does not know this event: {error}."))
    })
}
