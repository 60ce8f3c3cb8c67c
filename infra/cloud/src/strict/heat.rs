//! The write units of each partition of a table or an index
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>).

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use dynoxide::types::item_size;
use serde_json::Value;
use store::keys::{IndexSchema, TABLES};

use crate::{guard, strict::item_key::ItemKey};

/// What a partition serves in a second.
const MAX_WRITES: u32 = 1_000;
const MAX_READS: u32 = 3_000;

/// Partitions that are remembered.
const MAX_PARTITIONS: usize = 10_000;

/// The units of each partition in the present second, each item counted as one, in a transaction as two.
#[derive(Debug, Default)]
pub(crate) struct RecentUse(HashMap<(String, String, bool), (Instant, u32)>);

impl RecentUse {
    /// Counts a request, and returns whether one of its partitions has had more than it serves.
    pub(crate) fn is_over(&mut self, operation: &str, body: &[u8]) -> bool {
        let now = Instant::now();
        let is_recent = |start: Instant| now.duration_since(start) < Duration::from_secs(1);
        if self.0.len() >= MAX_PARTITIONS {
            self.0.retain(|_, (start, _)| is_recent(*start));
        }
        let units = if operation.starts_with("Transact") { 2 } else { 1 };
        let mut is_over = false;
        for asked in guard::of_tables(operation, body) {
            let is_read = ["GetItem", "Query"].iter().any(|read| asked.action.ends_with(read));
            for key in asked.keys() {
                let partition = (asked.resource.clone(), key.to_owned(), is_read);
                let (start, count) = self.0.entry(partition).or_insert((now, 0));
                if !is_recent(*start) {
                    (*start, *count) = (now, 0);
                }
                *count += units;
                is_over |= *count > if is_read { MAX_READS } else { MAX_WRITES };
            }
        }
        is_over
    }
}

/// The write units that one partition has used.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// The name of the table or the index.
    pub name: String,
    /// The partition key.
    pub key: String,
    /// The units, in all.
    pub writes: f64,
}

/// The units of each partition, by the name of the table or the index and the partition key.
#[derive(Debug, Default)]
pub(crate) struct HeatMeter(HashMap<(String, String), f64>);

impl HeatMeter {
    /// Adds what a write of one item from `old` to `new` costs: in the table, and in each index whose entry changes
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes>).
    /// In a transaction, `factor` is 2: the table is written twice, its indexes afterwards once.
    pub(crate) fn wrote(&mut self, key: &ItemKey, old: &Value, new: &Value, factor: f64) {
        self.add(&key.table, &key.pk, units(old).max(units(new)) * factor);
        let table = TABLES.iter().find(|known| known.name == key.table);
        for index in table.map_or(&[][..], |table| table.indexes) {
            let (old, new) = (entry(index, old), entry(index, new));
            if old == new {
                continue;
            }
            let moves = key_in(index, &old) != key_in(index, &new);
            for (entry, is_written) in [(&old, moves), (&new, true)] {
                if let Some(pk) = entry[index.pk]["S"].as_str().filter(|_| is_written) {
                    self.add(index.name, pk, units(entry));
                }
            }
        }
    }

    fn add(&mut self, name: &str, pk: &str, units: f64) {
        *self.0.entry((name.to_owned(), pk.to_owned())).or_default() += units;
    }

    /// All partitions, those with the most units first.
    pub(crate) fn hottest(&self) -> Vec<Heat> {
        let heats = self.0.iter().map(|((name, key), writes)| Heat {
            name: name.clone(),
            key: key.clone(),
            writes: *writes,
        });
        let mut heats: Vec<Heat> = heats.collect();
        heats.sort_by(|one, other| other.writes.total_cmp(&one.writes));
        heats
    }
}

/// The entry of `item` in `index`; null when it has none.
fn entry(index: &IndexSchema, item: &Value) -> Value {
    if item[index.pk].is_null() || item[index.sk.0].is_null() {
        return Value::Null;
    }
    let names = ["pk", "sk", index.pk, index.sk.0].into_iter();
    names
        .chain(index.projected.iter().copied())
        .filter(|name| !item[*name].is_null())
        .map(|name| (name.to_owned(), item[name].clone()))
        .collect()
}

fn key_in<'a>(index: &IndexSchema, entry: &'a Value) -> [&'a Value; 2] {
    [&entry[index.pk], &entry[index.sk.0]]
}

/// The units of writing `item`: one per started kilobyte.
fn units(item: &Value) -> f64 {
    let bytes = serde_json::from_value(item.clone()).map_or(0, |item| item_size(&item));
    bytes.div_ceil(1024).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_over_its_units_is_throttled_and_no_other() {
        let mut recent = RecentUse::default();
        let body = |pk: &str| format!(r#"{{"TableName":"records","Key":{{"pk":{{"S":"{pk}"}}}}}}"#);
        let (hot, other) = (body("HOT"), body("OTHER"));
        let over = (0..2_000).filter(|_| recent.is_over("UpdateItem", hot.as_bytes())).count();
        assert!(over >= 1, "a second has 1,000 writes");
        assert!(!recent.is_over("UpdateItem", other.as_bytes()));
        assert!(!recent.is_over("GetItem", hot.as_bytes()), "reads have units of their own");
    }
}
