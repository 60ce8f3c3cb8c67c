//! Shards: the partitions of an index that together hold one list to which the whole service writes. A partition serves
//! 1,000 write units per second, and an index that is throttled throttles the writes to its table
//! (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-sharding.html>).

use sha2::{Digest, Sha256};

/// The number of shards of a list. It may grow without a migration: items stay where their attribute says, and readers
/// read all shards. To shrink it, readers must go on reading the former number until the shards that are no longer
/// written to are empty.
const SHARDS: u8 = 16;

/// The shard of `list` in which the item with this `key` is listed.
pub(crate) fn shard(list: &str, key: &str) -> String {
    let first = Sha256::digest(key).first().copied().unwrap_or_default();
    format!("{list}#{:02x}", first % SHARDS)
}

/// The shards of `list`.
pub(crate) fn numbered_shards(list: &str) -> impl Iterator<Item = String> {
    (0..SHARDS).map(move |number| format!("{list}#{number:02x}"))
}

/// All partitions of `list`: its shards and, without a number, the one in which items were listed before there were
/// shards.
pub(crate) fn shards(list: &str) -> Vec<String> {
    std::iter::once(list.to_owned()).chain(numbered_shards(list)).collect()
}
