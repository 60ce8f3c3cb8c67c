//! Invokes the dispatcher and the worker, as their event source mappings and schedules do on AWS.
//!
//! With the fault [`Stream`](cloud::faults::Mode::Stream) the stream does what Lambda documents: it delivers each
//! record once more with a later batch, in another order except for records of the same item, and every batch begins
//! with a poisoned record, so that it is retried (<https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>).

use std::{cmp::Reverse, time::Duration};

use background::{BatchResponse, Event};
use dispatcher::Dispatcher;
use runtime::ConfigError;
use serde_json::{Value, json};
use store::{Setup, keys::DueList};
use worker::Worker;

use cloud::{
    Cloud, Consumer, LocalError,
    faults::{GET_RECORDS, Service},
};

/// The interval between reads of the stream.
const POLL_INTERVAL: Duration = Duration::from_millis(150);
/// The interval of the sweeps; a minute on AWS, shorter here for developers who watch.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
/// How often a batch with a failed record is retried: `MaximumRetryAttempts` in the template.
const RETRIES: usize = 3;

/// The functions without HTTP routes that the stream and schedules invoke. Clones share their state.
#[derive(Clone)]
pub struct Consumers {
    /// Sends codes, mails and single text messages.
    pub dispatcher: Dispatcher,
    /// Does all other background work.
    pub worker: Worker,
}

impl Consumers {
    /// Both functions with the setup that `setup_of` returns for their names.
    ///
    /// # Errors
    /// When a setting or a key is missing or malformed.
    pub fn new(setup_of: &dyn Fn(&str) -> Result<Setup, ConfigError>) -> Result<Self, ConfigError> {
        Ok(Self {
            dispatcher: Dispatcher::new(&setup_of("dispatcher")?)?,
            worker: Worker::new(&setup_of("worker")?)?,
        })
    }

    async fn invoke(&self, consumer: Consumer, event: Value) -> Result<BatchResponse, LocalError> {
        let event: Event = serde_json::from_value(event).map_err(|error| {
            LocalError::new(format!("The functions do not know this event: {error}."))
        })?;
        let handled = match consumer {
            Consumer::Dispatcher => self.dispatcher.clone().answer(event).await,
            Consumer::Worker => self.worker.clone().answer(event).await,
        };
        handled.map_err(|failure| LocalError::new(failure.to_string()))
    }
}

/// Passes the stream records of `cloud` to the functions and starts their sweeps regularly, until the future is dropped.
pub async fn run(cloud: Cloud, consumers: Consumers) {
    let ((), ()) = tokio::join!(
        run_one(&cloud, &consumers, Consumer::Dispatcher),
        run_one(&cloud, &consumers, Consumer::Worker),
    );
}

async fn run_one(cloud: &Cloud, consumers: &Consumers, consumer: Consumer) {
    let sweeps = async {
        let mut ticks = tokio::time::interval(SWEEP_INTERVAL);
        loop {
            ticks.tick().await;
            warn(sweep_of(consumers, consumer).await, consumer);
        }
    };
    let polls = async {
        let mut ticks = tokio::time::interval(POLL_INTERVAL);
        loop {
            ticks.tick().await;
            let delivered = deliver_to(cloud, consumers, consumer).await;
            warn(delivered.map(|_| ()), consumer);
        }
    };
    // Concurrently, as on AWS: stream records do not wait for a batch that is being sent.
    let ((), ()) = tokio::join!(sweeps, polls);
}

fn warn(done: Result<(), LocalError>, consumer: Consumer) {
    if let Err(error) = done {
        tracing::warn!(%error, ?consumer, "a function could not be invoked");
    }
}

/// Passes the new stream records to the dispatcher, then to the worker. Returns their number.
///
/// # Errors
/// As [`Cloud::stream_records`].
pub async fn deliver(cloud: &Cloud, consumers: &Consumers) -> Result<usize, LocalError> {
    let first = deliver_to(cloud, consumers, Consumer::Dispatcher).await?;
    Ok(first + deliver_to(cloud, consumers, Consumer::Worker).await?)
}

/// Invokes `consumer` with the next stream records that concern it, and then with those that a fault kept for another
/// delivery. Returns their number.
///
/// # Errors
/// As [`Cloud::stream_records`].
pub async fn deliver_to(
    cloud: &Cloud,
    consumers: &Consumers,
    consumer: Consumer,
) -> Result<usize, LocalError> {
    let position = cloud.stream_position(consumer);
    let records = next_records(cloud, consumer)?;
    let is_repeated = !records.is_empty()
        && cloud.faults().inject_fault(Service::Dynamodb, GET_RECORDS).is_some();
    let kept = if is_repeated { records.clone() } else { Vec::new() };
    let mut late = cloud.exchange_late_records(consumer, kept);
    let count = records.len() + late.len();
    if is_repeated {
        deliver_poisoned(consumers, consumer, records).await?;
    } else if !records.is_empty() {
        let invoked = consumers.invoke(consumer, json!({ "Records": records })).await;
        // As on AWS, the batch is delivered again: the position advances only when the function has returned.
        invoked.inspect_err(|_| cloud.rewind_stream(consumer, position))?;
    }
    if !late.is_empty() {
        // Stable: the records of one item stay in order.
        late.sort_by_key(|record| Reverse(item_of(record)));
        deliver_poisoned(consumers, consumer, late).await?;
    }
    Ok(count)
}

/// The next records of the stream that concern `consumer`. This filter is wider than that of the template, which also
/// looks at the kind of change.
fn next_records(cloud: &Cloud, consumer: Consumer) -> Result<Vec<Value>, LocalError> {
    let lists = match consumer {
        Consumer::Dispatcher => dispatcher::STREAM_LISTS,
        Consumer::Worker => worker::STREAM_LISTS,
    };
    let is_its = |record: &Value| {
        let due = record["dynamodb"]["NewImage"]["duePk"]["S"].as_str();
        due.is_some_and(|due| DueList::of(due).is_some_and(|list| lists.contains(&list)))
    };
    loop {
        let mut records = cloud.stream_records(consumer)?;
        let is_end = records.is_empty();
        records.retain(is_its);
        if is_end || !records.is_empty() {
            return Ok(records);
        }
    }
}

/// Passes a batch of a poisoned record and `records` to `consumer`. As long as one fails, it is retried from the first
/// failed one, also those behind it that succeeded
/// (<https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html>).
async fn deliver_poisoned(
    consumers: &Consumers,
    consumer: Consumer,
    mut records: Vec<Value>,
) -> Result<(), LocalError> {
    records.insert(0, poisoned_record());
    for _ in 0..=RETRIES {
        let event = json!({ "Records": records });
        // To the dispatcher every batch is delivered as often as if its first record had failed.
        let handled = consumers.invoke(consumer, event).await?;
        let has_failed = |record: &Value| {
            let number = record["dynamodb"]["SequenceNumber"].as_str();
            number.is_some_and(|number| handled.has_failed(number))
        };
        match records.iter().position(has_failed) {
            Some(first) => drop(records.drain(..first)),
            None if consumer == Consumer::Dispatcher => {}
            None => break,
        }
    }
    Ok(())
}

/// A record whose handling by the worker always fails: DynamoDB refuses to read a partition key of more than 2,048
/// bytes.
fn poisoned_record() -> Value {
    json!({
        "eventName": "INSERT",
        "dynamodb": {
            "Keys": { "pk": { "S": format!("CHUNK#{}", "x".repeat(2048)) } },
            "NewImage": { "duePk": { "S": DueList::Chunks.code() } },
            "SequenceNumber": "poisoned",
        },
    })
}

/// The primary key of the item that `record` is about.
fn item_of(record: &Value) -> [String; 2] {
    ["pk", "sk"].map(|name| record["dynamodb"]["Keys"][name].to_string())
}

/// Starts the sweeps, in which the dispatcher and then the worker process due work, as the schedules do every minute on
/// AWS.
///
/// # Errors
/// None: the event is well-formed.
pub async fn sweep(consumers: &Consumers) -> Result<(), LocalError> {
    sweep_of(consumers, Consumer::Dispatcher).await?;
    sweep_of(consumers, Consumer::Worker).await
}

async fn sweep_of(consumers: &Consumers, consumer: Consumer) -> Result<(), LocalError> {
    let event = json!({ "source": "aws.scheduler" });
    consumers.invoke(consumer, event).await.map(|_| ())
}
