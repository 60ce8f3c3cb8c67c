//! Events that wake the dispatcher: whatever records they hold, it names only those again that it was brought.

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
    let handled = serde_json::to_value(&handled).expect("an answer to Lambda");
    let brought = texts(&whole);
    let again: Vec<&Value> = handled["batchItemFailures"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| &item["itemIdentifier"])
        .collect();
    assert!(
        again
            .iter()
            .all(|number| brought.iter().any(|text| **number == **text)),
        "{handled}"
    );
}

/// Every text in `value`, wherever it stands.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(object) => object.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
