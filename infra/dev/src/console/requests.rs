//! `/_local/requests`: the last requests to the API.

use super::markup::{counted, escape, page, time};
use crate::requests::{AnsweredRequest, RequestLog};

/// The page with the requests of `log`, newest first.
pub(crate) fn list(log: &RequestLog) -> String {
    let requests = log.newest_first();
    let main = format!(
        include_str!("requests.html"),
        count = counted(requests.len(), "request"),
        rows = requests.iter().map(row).collect::<String>(),
    );
    page("Requests", "/_local/requests", &main)
}

fn row(request: &AnsweredRequest) -> String {
    let store = request.store.unwrap_or_default();
    let cost = [counted(store.round_trips, "round trip"), counted(store.requests, "store request")];
    format!(
        include_str!("request.html"),
        class = request.status / 100,
        status = request.status,
        method = escape(&request.method),
        path = escape(&request.path),
        at = time(&request.at.to_string()),
        milliseconds = request.took.as_micros() as f64 / 1000.0,
        cost = cost.join(" · "),
    )
}
