//! Stream events for the dispatcher: it reports only records that it received as failed.

use dispatcher::Event;
use serde_json::Value;

use crate::stage::STAGE;

pub(crate) fn run(input: &[u8]) {
    let (Ok(event), Ok(whole)) = (
        serde_json::from_slice::<Event>(input),
        serde_json::from_slice(input),
    ) else {
        return;
    };
    let handled = STAGE
        .runtime
        .block_on(STAGE.dispatcher.clone().handle(event));
    let handled = serde_json::to_value(&handled).expect("a response for Lambda");
    let received = texts(&whole);
    let failed: Vec<&Value> = handled["batchItemFailures"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| &item["itemIdentifier"])
        .collect();
    assert!(
        failed
            .iter()
            .all(|number| received.iter().any(|text| **number == **text)),
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
