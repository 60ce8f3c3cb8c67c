//! What the log lines of one piece of work need: how many requests to the tables it sent, and which request of a client
//! it belongs to.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;

/// The requests to the tables. As an extension of a response: those that it took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Requests {
    /// The longest chain of sequential requests.
    pub round_trips: u32,
    /// All requests, sequential or concurrent.
    pub requests: u32,
}

type Meter = Arc<Mutex<Requests>>;

tokio::task_local! {
    static METER: Meter;
    static REQUEST_ID: String;
}

/// Runs `work` for the request of a client with the id `request_id`, which is empty if there is none. What it queues is
/// stored with that id, so that the lines of all work for a request name it.
pub async fn for_request<T>(request_id: String, work: impl Future<Output = T>) -> T {
    REQUEST_ID.scope(request_id, work).await
}

/// The id of the request that the current work is for; empty if there is none.
pub(crate) fn request_id() -> String {
    REQUEST_ID.try_with(String::clone).unwrap_or_default()
}

/// Runs `work` and returns its output and its requests.
pub async fn metered<T>(work: impl Future<Output = T>) -> (T, Requests) {
    let meter = Meter::default();
    let result = METER.scope(Arc::clone(&meter), work).await;
    let requests = *meter.lock().unwrap_or_else(PoisonError::into_inner);
    (result, requests)
}

/// Sends a request, which counts in the work that it is part of. In a box, because the futures of the SDK have many
/// kilobytes and deeply nested types.
pub(crate) fn counted<'a, T: 'a>(request: impl Future<Output = T> + Send + 'a) -> BoxFuture<'a, T> {
    Box::pin(async move {
        let change = |change: &dyn Fn(&mut Requests)| {
            METER.try_with(|meter| {
                let mut requests = meter.lock().unwrap_or_else(PoisonError::into_inner);
                change(&mut requests);
                requests.round_trips
            })
        };
        let finished = change(&|requests| requests.requests += 1);
        let response = request.await;
        if let Ok(finished) = finished {
            let depth = finished + 1;
            let _ = change(&|requests| requests.round_trips = requests.round_trips.max(depth));
        }
        response
    })
}
