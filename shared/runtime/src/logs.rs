//! Log formats: JSON on Lambda, plain text elsewhere. The edge writes one line per request, without body, query and
//! headers, because they can contain codes and addresses. The spans of a line name the request or the invocation, and the
//! piece of work.
//!
//! An event with a field `metric` is a sample of that metric, with the value of its field `count`, default 1. On Lambda
//! a second line reports the sample to CloudWatch in the embedded metric format
//! (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>),
//! without dimensions, as each environment has its own namespace. Zeros are not reported, so that an environment
//! without failures pays for no metrics.

use std::{fmt::Debug, io::Write};

use serde_json::{Value, json};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    filter::LevelFilter,
    fmt::{self, MakeWriter},
    layer::{Context, SubscriberExt},
    util::SubscriberInitExt,
};

use crate::Clock;

/// Logs as JSON to standard output, which Lambda sends to CloudWatch, with metrics if there is a `namespace`. A second
/// call has no effect.
pub fn log_as_json(namespace: Option<&str>) {
    let lines = fmt::layer().json().flatten_event(true).with_target(false).with_current_span(false);
    let metrics = namespace.map(|name| Metrics {
        namespace: name.to_owned(),
        writer: std::io::stdout,
        clock: Clock::default(),
    });
    let _ = tracing_subscriber::registry()
        .with(LevelFilter::INFO)
        .with(lines.without_time())
        .with(metrics)
        .try_init();
}

/// Logs as plain text to standard error. A second call has no effect.
pub fn log_for_people() {
    let lines = fmt::layer().with_target(false).with_writer(std::io::stderr).without_time();
    let _ = tracing_subscriber::registry().with(LevelFilter::INFO).with(lines).try_init();
}

/// Writes metrics in the embedded metric format.
struct Metrics<W> {
    namespace: String,
    writer: W,
    clock: Clock,
}

impl<S: Subscriber, W: for<'a> MakeWriter<'a> + 'static> Layer<S> for Metrics<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut sample = Sample { metric: None, count: 1 };
        event.record(&mut sample);
        let Some(metric) = sample.metric else { return };
        let mut line = json!({
            "_aws": {
                "Timestamp": self.clock.now().unix_milliseconds(),
                "CloudWatchMetrics": [{
                    "Namespace": self.namespace,
                    "Dimensions": [[]],
                    "Metrics": [{ "Name": metric, "Unit": "Count" }],
                }],
            },
        });
        line[metric] = Value::from(sample.count);
        // A metric that cannot be written must not fail the request.
        let _ = writeln!(self.writer.make_writer(), "{line}");
    }
}

struct Sample {
    metric: Option<String>,
    count: u64,
}

impl Visit for Sample {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "metric" {
            self.metric = Some(value.to_owned());
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "count" {
            self.count = value;
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn only_events_with_a_metric_write_a_metric_line() {
        let lines = Lines::default();
        let writer = lines.clone();
        let metrics = Metrics {
            namespace: "Halqa/test".to_owned(),
            writer: move || writer.clone(),
            clock: Clock::default(),
        };
        let _guard = tracing_subscriber::registry().with(metrics).set_default();
        tracing::info!(count = 3_u64, "no metric");
        tracing::warn!(metric = "UnknownMessages", "one");
        tracing::warn!(metric = "DeadLetters", count = 3_u64, "three");
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let metric_lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [one, three] = &metric_lines[..] else { panic!("{text}") };
        assert_eq!((&one["UnknownMessages"], &three["DeadLetters"]), (&json!(1), &json!(3)));
        let directive = &three["_aws"]["CloudWatchMetrics"][0];
        assert_eq!(directive["Namespace"], "Halqa/test");
        assert_eq!(directive["Metrics"][0]["Name"], "DeadLetters");
        assert!(one["_aws"]["Timestamp"].is_number());
    }
}
