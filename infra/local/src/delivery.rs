//! The dispatcher on a laptop: what a stream and a schedule do on AWS.

use std::time::Duration;

use dispatcher::{Dispatcher, Event};
use serde_json::json;

use crate::{LocalError, cloud::Cloud};

/// How long a message waits at most before somebody looks.
const LOOK_EVERY: Duration = Duration::from_millis(150);
/// The sweeper's minute is shorter here: whoever watches has less patience than an operator.
const SWEEP_EVERY: Duration = Duration::from_secs(10);

/// Brings the dispatcher what the stream of `cloud` brings, and sweeps now and then, until the future is
/// dropped.
pub async fn run(cloud: Cloud, dispatcher: Dispatcher) {
    let sweeps = async {
        let mut minutes = tokio::time::interval(SWEEP_EVERY);
        loop {
            minutes.tick().await;
            warn(sweep(&dispatcher).await);
        }
    };
    let looks = async {
        let mut moments = tokio::time::interval(LOOK_EVERY);
        loop {
            moments.tick().await;
            warn(bring(&cloud, &dispatcher).await.map(|_| ()));
        }
    };
    // Side by side, as on AWS: what the stream brings does not wait for a batch that leaves.
    let ((), ()) = tokio::join!(sweeps, looks);
}

fn warn(done: Result<(), LocalError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the dispatcher could not be brought its work");
    }
}

/// Brings the dispatcher what the stream has brought: how many records that were.
///
/// # Errors
/// When the embedded store does not answer.
pub async fn bring(cloud: &Cloud, dispatcher: &Dispatcher) -> Result<usize, LocalError> {
    let event = cloud.stream_event()?;
    let records = event["Records"].as_array().map_or(0, Vec::len);
    if records > 0 {
        dispatcher.clone().handle(read(event)?).await;
    }
    Ok(records)
}

/// Has the dispatcher look for what is due, as it does every minute on AWS.
///
/// # Errors
/// None.
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
