//! What the stream of the records table shows of the whole run: the embedded cloud keeps it, in the order of the writes.

use cloud::Consumer;
use serde_json::Value;
use tests::World;

use crate::check::{plain_item, text};

/// One write of an item of a course or of its registrations.
pub(crate) struct Change {
    /// When, in Unix seconds of the cloud's clock.
    pub(crate) at: i64,
    pub(crate) pk: String,
    pub(crate) sk: String,
    /// The item before and after; null if there was none.
    pub(crate) before: Value,
    pub(crate) after: Value,
}

/// The position of the stream at which a run begins.
pub(crate) fn position(world: &World) -> String {
    world.cloud().stream_position(Consumer::Worker)
}

/// The writes since `position`. Moves the reader of the worker, so that nothing may be delivered to it after this.
pub(crate) fn read(world: &World, position: String) -> Vec<Change> {
    world.cloud().rewind_stream(Consumer::Worker, position);
    let mut changes = Vec::new();
    loop {
        let records = world.cloud().stream_records(Consumer::Worker).expect("the stream is kept");
        if records.is_empty() {
            return changes;
        }
        changes.extend(records.into_iter().filter_map(change));
    }
}

fn change(mut record: Value) -> Option<Change> {
    let record = &mut record["dynamodb"];
    let [pk, sk] = ["pk", "sk"].map(|name| text(&record["Keys"][name], "S"));
    let is_kept = ["COURSE#", "REGISTRATION#", "SEATS#"].iter().any(|start| pk.starts_with(start));
    let at = record["ApproximateCreationDateTime"].as_f64().unwrap_or_default() as i64;
    let [before, after] = ["OldImage", "NewImage"].map(|name| match record[name].take() {
        Value::Null => Value::Null,
        item => plain_item(item),
    });
    is_kept.then_some(Change { at, pk, sk, before, after })
}
