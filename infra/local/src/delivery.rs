//! Invokes the dispatcher, as the stream and the schedule do on AWS.

use std::time::Duration;

use dispatcher::{Dispatcher, Event};
use serde_json::json;

use crate::{LocalError, cloud::Cloud};

/// The interval between reads of the stream.
const POLL_INTERVAL: Duration = Duration::from_millis(150);
/// The interval of the sweep; a minute on AWS, shorter here for developers who watch.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

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

/// Passes the new stream records to the dispatcher and returns their number.
///
/// # Errors
/// As [`Cloud::stream_event`].
pub async fn deliver(cloud: &Cloud, dispatcher: &Dispatcher) -> Result<usize, LocalError> {
    let event = cloud.stream_event()?;
    let records = event["Records"].as_array().map_or(0, Vec::len);
    if records > 0 {
        dispatcher.clone().handle(read(event)?).await;
    }
    Ok(records)
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

fn read(event: serde_json::Value) -> Result<Event, LocalError> {
    serde_json::from_value(event).map_err(|error| {
        LocalError::new(format!("The dispatcher does not know this event: {error}."))
    })
}
