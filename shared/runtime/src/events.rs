//! Lambda functions that are invoked with events other than HTTP requests.

use lambda_runtime::{LambdaEvent, service_fn};
use serde::{Serialize, de::DeserializeOwned};
use tracing::Instrument;

use crate::{ConfigError, Error, Settings, log_as_json};

/// Runs a function on Lambda: `start` creates its state from the settings, `handle` processes events of type `E` until
/// Lambda ends the process. An error of `handle` fails the invocation, which Lambda counts and retries.
///
/// # Errors
/// That of `start`, which is also logged; errors of the Lambda runtime.
pub async fn serve_events<T, E, A, F>(
    start: impl AsyncFnOnce(Settings) -> Result<T, ConfigError>,
    handle: fn(T, E) -> F,
) -> Result<(), Error>
where
    T: Clone,
    E: DeserializeOwned,
    A: Serialize,
    F: Future<Output = Result<A, Error>>,
{
    let settings = Settings::from_environment();
    log_as_json(settings.optional("METRICS_NAMESPACE"));
    let function = start(settings)
        .await
        .inspect_err(|problem| tracing::error!(%problem, "the function cannot start"))?;
    // The runtime moves the future between its layers; a box makes that a move of a pointer.
    let answer = |event: LambdaEvent<E>| {
        let span = tracing::info_span!("invocation", lambda_id = event.context.request_id);
        Box::pin(handle(function.clone(), event.payload).instrument(span))
    };
    lambda_runtime::run(service_fn(answer)).await
}
