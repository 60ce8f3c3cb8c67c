//! Logs: one line per request, written by the edge; JSON on Lambda, readable on a laptop. No
//! bodies, no queries, no headers: codes and addresses travel there.
//!
//! A line with a field `metric` is a sample of that metric, of the number in its field `count`, else of one.
//! On Lambda a second line tells it to CloudWatch in the embedded metric format
//! (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html>),
//! without dimensions: the namespace is the environment's. Metrics are told when there is something to tell, so
//! an environment where nothing goes wrong pays for none.

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

/// Logs as JSON on standard output, where CloudWatch reads it, and metrics too when they have a `namespace`. A
/// second call does nothing.
pub fn log_as_json(namespace: Option<&str>) {
    let lines = fmt::layer()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_current_span(false)
        .with_span_list(false);
    let metrics =
        namespace.map(|name| Metrics::new(name.to_owned(), std::io::stdout, Clock::default()));
    let _ = tracing_subscriber::registry()
        .with(LevelFilter::INFO)
        .with(lines.without_time())
        .with(metrics)
        .try_init();
}

/// Logs for people on standard error. A second call does nothing.
pub fn log_for_people() {
    let lines = fmt::layer()
        .with_target(false)
        .with_writer(std::io::stderr)
        .without_time();
    let _ = tracing_subscriber::registry()
        .with(LevelFilter::INFO)
        .with(lines)
        .try_init();
}

/// Tells metrics to CloudWatch.
struct Metrics<W> {
    namespace: String,
    writer: W,
    clock: Clock,
}

impl<W> Metrics<W> {
    const fn new(namespace: String, writer: W, clock: Clock) -> Self {
        Self {
            namespace,
            writer,
            clock,
        }
    }
}

impl<S: Subscriber, W: for<'a> MakeWriter<'a> + 'static> Layer<S> for Metrics<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut sample = Sample {
            metric: None,
            count: 1,
        };
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
        // A metric that cannot be told is no reason to fail whoever is served.
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
    fn a_line_with_a_metric_is_told_to_cloudwatch_and_others_are_not() {
        let lines = Lines::default();
        let writer = lines.clone();
        let metrics = Metrics::new(
            "Halqa/test".to_owned(),
            move || writer.clone(),
            Clock::default(),
        );
        let _guard = tracing_subscriber::registry().with(metrics).set_default();
        tracing::info!(count = 3_u64, "no metric");
        tracing::warn!(metric = "UnknownMessages", "one");
        tracing::warn!(metric = "DeadLetters", count = 3_u64, "three");
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let told: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            (
                told.len(),
                &told[0]["UnknownMessages"],
                &told[1]["DeadLetters"]
            ),
            (2, &json!(1), &json!(3))
        );
        let directive = &told[1]["_aws"]["CloudWatchMetrics"][0];
        assert_eq!(
            (&directive["Namespace"], &directive["Metrics"][0]["Name"]),
            (&json!("Halqa/test"), &json!("DeadLetters"))
        );
        assert!(told[0]["_aws"]["Timestamp"].is_number());
    }
}
