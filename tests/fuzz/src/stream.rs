//! Stream events for dispatcher and worker: they report only records that they received as failed.

use background::{Event, Handled};
use serde_json::Value;

use crate::stage::STAGE;

pub(crate) fn run(input: &[u8]) {
    let (Ok(event), Ok(whole)) =
        (serde_json::from_slice::<Event>(input), serde_json::from_slice(input))
    else {
        return;
    };
    let received = texts(&whole);
    for handled in STAGE.handled(&event) {
        assert_received(&handled, &received);
    }
}

fn assert_received(handled: &Handled, received: &[String]) {
    let handled = serde_json::to_value(handled).expect("a response for Lambda");
    let failed: Vec<&Value> = handled["batchItemFailures"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| &item["itemIdentifier"])
        .collect();
    assert!(
        failed.iter().all(|number| received.iter().any(|text| **number == **text)),
        "{handled}"
    );
}

/// All strings in `value`, at any depth.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(object) => object.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
