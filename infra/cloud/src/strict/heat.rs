//! The read and write units of each partition of a table or an index, and partitions that are throttled
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>).

use std::{collections::HashMap, time::Instant};

use serde_json::Value;
use store::keys::{IndexSchema, TABLES};

use crate::strict::item_key::ItemKey;

/// A partition: the name of a table or an index, and the partition key.
pub(crate) type Partition = (String, String);

/// The units that one partition has used.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// The name of the table or the index.
    pub name: String,
    /// The partition key.
    pub key: String,
    /// Write units, in all.
    pub writes: f64,
    /// Read units, in all.
    pub reads: f64,
    /// The most write units within a second.
    pub most_writes: f64,
    /// The most read units within a second.
    pub most_reads: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Units {
    reads: f64,
    writes: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    all: Units,
    most: Units,
    second: u64,
    /// Of the present second.
    now: Units,
}

#[derive(Debug)]
pub(crate) struct HeatMeter {
    start: Instant,
    usage: HashMap<Partition, Usage>,
}

impl Default for HeatMeter {
    fn default() -> Self {
        Self { start: Instant::now(), usage: HashMap::new() }
    }
}

impl HeatMeter {
    /// Adds what a write of one item from `old` to `new` costs: in the table, and in each index whose entry changes
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes>).
    /// In a transaction, `factor` is 2: the table is written twice, its indexes afterwards once.
    pub(crate) fn wrote(&mut self, key: &ItemKey, old: &Value, new: &Value, factor: f64) {
        let units = per_started(1024, size(old).max(size(new))) * factor;
        self.add((key.table.clone(), key.pk.clone()), 0.0, units);
        for index in indexes(&key.table) {
            let (old, new) = (entry(index, old), entry(index, new));
            if old == new {
                continue;
            }
            let moves = key_in(index, &old) != key_in(index, &new);
            for (entry, is_written) in [(&old, moves), (&new, true)] {
                if let Some(pk) = partition_key(index, entry).filter(|_| is_written) {
                    let units = per_started(1024, size(entry));
                    self.add((index.name.to_owned(), pk), 0.0, units);
                }
            }
        }
    }

    /// Adds `units` of reading `partition`.
    pub(crate) fn read(&mut self, partition: Partition, units: f64) {
        self.add(partition, units, 0.0);
    }

    fn add(&mut self, partition: Partition, reads: f64, writes: f64) {
        let second = self.start.elapsed().as_secs();
        let usage = self.usage.entry(partition).or_default();
        if usage.second != second {
            (usage.second, usage.now) = (second, Units::default());
        }
        for units in [&mut usage.all, &mut usage.now] {
            units.reads += reads;
            units.writes += writes;
        }
        usage.most.reads = usage.most.reads.max(usage.now.reads);
        usage.most.writes = usage.most.writes.max(usage.now.writes);
    }

    /// Whether `partition` has used `reads` read units or `writes` write units in this second; 0 is no bound.
    pub(crate) fn is_hot(&self, partition: &Partition, reads: u64, writes: u64) -> bool {
        let second = self.start.elapsed().as_secs();
        let usage = self.usage.get(partition);
        usage.is_some_and(|usage| {
            let reached = |bound: u64, units: f64| bound > 0 && units >= bound as f64;
            usage.second == second
                && (reached(reads, usage.now.reads) || reached(writes, usage.now.writes))
        })
    }

    /// All partitions, those with the most units first.
    pub(crate) fn hottest(&self) -> Vec<Heat> {
        let heats = self.usage.iter().map(|((name, key), usage)| Heat {
            name: name.clone(),
            key: key.clone(),
            writes: usage.all.writes,
            reads: usage.all.reads,
            most_writes: usage.most.writes,
            most_reads: usage.most.reads,
        });
        let mut heats: Vec<Heat> = heats.collect();
        // A partition serves three times as many reads as writes.
        let share = |heat: &Heat| heat.writes + heat.reads / 3.0;
        heats.sort_by(|one, other| share(other).total_cmp(&share(one)));
        heats
    }
}

/// The partitions that a write of `item` in `table` uses: of the table, and of the indexes that list it.
pub(crate) fn partitions(table: &str, item: &Value) -> Vec<Partition> {
    let of_indexes = indexes(table)
        .iter()
        .filter_map(|index| Some((index.name.to_owned(), partition_key(index, item)?)));
    let pk = text(&item["pk"]).map(|pk| (table.to_owned(), pk));
    of_indexes.chain(pk).collect()
}

/// Read units of `item`: strongly consistent one per 4 KB, else half
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html>).
pub(crate) fn read_units(item: &Value, is_consistent: bool) -> f64 {
    per_started(4096, size(item)) * if is_consistent { 1.0 } else { 0.5 }
}

fn indexes(table: &str) -> &'static [IndexSchema] {
    let table = TABLES.iter().find(|known| known.name == table);
    table.map_or(&[], |table| table.indexes)
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

fn partition_key(index: &IndexSchema, item: &Value) -> Option<String> {
    text(&item[index.pk]).filter(|_| !item[index.sk.0].is_null())
}

fn text(value: &Value) -> Option<String> {
    value["S"].as_str().map(str::to_owned)
}

/// The units of `bytes`, at least one.
fn per_started(unit: usize, bytes: usize) -> f64 {
    bytes.div_ceil(unit).max(1) as f64
}

/// The size in bytes of an item in DynamoDB JSON
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html>).
fn size(item: &Value) -> usize {
    let attributes = item.as_object().into_iter().flatten();
    attributes.map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &Value) -> usize {
    let Some((kind, value)) = value.as_object().and_then(|value| value.iter().next()) else {
        return 0;
    };
    match (kind.as_str(), value) {
        ("N", Value::String(number)) => number.len().div_ceil(2) + 1,
        ("B", Value::String(base64)) => base64.len() / 4 * 3,
        (_, Value::String(text)) => text.len(),
        ("M", Value::Object(fields)) => {
            let field = |(name, value): (&String, &Value)| 1 + name.len() + value_size(value);
            3 + fields.iter().map(field).sum::<usize>()
        }
        ("L", Value::Array(list)) => {
            3 + list.iter().map(|value| 1 + value_size(value)).sum::<usize>()
        }
        (_, Value::Array(set)) => set.iter().filter_map(Value::as_str).map(str::len).sum(),
        _ => 1,
    }
}
