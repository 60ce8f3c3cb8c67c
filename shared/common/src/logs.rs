//! Logs: one line per request, written by the edge; JSON on Lambda, readable on a laptop. No
//! bodies, no queries, no headers: codes and addresses travel there.

use tracing_subscriber::{filter::LevelFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

/// Logs as JSON on standard output, where CloudWatch reads it. A second call does nothing.
pub fn log_as_json() {
    let lines = fmt::layer().json().flatten_event(true).with_target(false).with_current_span(false).with_span_list(false);
    let _ = tracing_subscriber::registry().with(LevelFilter::INFO).with(lines.without_time()).try_init();
}

/// Logs for people on standard error. A second call does nothing.
pub fn log_for_people() {
    let lines = fmt::layer().with_target(false).with_writer(std::io::stderr).without_time();
    let _ = tracing_subscriber::registry().with(LevelFilter::INFO).with(lines).try_init();
}
