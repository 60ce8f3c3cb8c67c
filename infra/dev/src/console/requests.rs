//! `/_local/requests`: the last requests to the API.

use super::markup::{counted, escape, page, time};
use crate::requests::{AnsweredRequest, RequestLog};

/// The page with the requests of `log`, newest first, whose code, caller, id or path contains `q`.
pub(crate) fn list(log: &RequestLog, q: &str) -> String {
    let mut requests = log.newest_first();
    requests.retain(|AnsweredRequest { code, caller, id, path, .. }| {
        [code, caller, id, path].iter().any(|text| text.contains(q))
    });
    let main = format!(
        include_str!("requests.html"),
        q = escape(q),
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
        code = if request.code.is_empty() { "no code" } else { &request.code },
        caller = match &*request.caller {
            "" => "no token".to_owned(),
            caller => format!("caller <code>{}</code>", escape(caller)),
        },
        id = escape(&request.id),
    )
}
