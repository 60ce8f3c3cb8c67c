//! The lists of pending work in the index `due`.

use super::{shard, shards};

/// A list of pending work. The item of a piece of work is in it until the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueList {
    /// Mails and codes, until they are sent.
    Outbox,
    /// Single text messages, until they are sent.
    Single,
    /// Messages of batches that wait for their turn: their due times are places in the order of sending. Only the sweep
    /// sends them, not the stream.
    Bulk,
    /// Messages of batches whose turn has come: leased, claimed, or to be sent again.
    Started,
    /// Chunks of batches, until they are expanded into messages.
    Chunks,
    /// New accounts, until they are verified or erased.
    Unverified,
    /// Erased users, until their data is deleted.
    Erase,
    /// Courses, until their search entries are current.
    Words,
    /// Files, until they are uploaded or deleted.
    Files,
    /// Work that has failed for a day, until an operator handles it.
    Dead,
}

impl DueList {
    /// All lists.
    pub const ALL: [Self; 10] = [
        Self::Outbox,
        Self::Single,
        Self::Bulk,
        Self::Started,
        Self::Chunks,
        Self::Unverified,
        Self::Erase,
        Self::Words,
        Self::Files,
        Self::Dead,
    ];

    /// Its partition key, without the number of a shard.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outbox => "OUTBOX",
            Self::Single => "SINGLE",
            Self::Bulk => "BULK",
            Self::Started => "STARTED",
            Self::Chunks => "CHUNKS",
            Self::Unverified => "UNVERIFIED",
            Self::Erase => "ERASE",
            Self::Words => "WORDS",
            Self::Files => "FILES",
            Self::Dead => "DEAD",
        }
    }

    /// Whether it is in 16 partitions, `#00` to `#0f` by a hash of the item's key: the messages of all users pass through.
    /// Every sweep reads each partition, so other lists have one.
    pub const fn is_sharded(self) -> bool {
        matches!(self, Self::Outbox | Self::Single | Self::Bulk | Self::Started)
    }

    /// The list with the partition key `due_pk`.
    pub fn of(due_pk: &str) -> Option<Self> {
        let name = due_pk.split('#').next()?;
        Self::ALL.into_iter().find(|list| list.name() == name)
    }

    /// The partition key of the item with the partition key `pk` in this list.
    pub(crate) fn partition_of(self, pk: &str) -> String {
        if self.is_sharded() { shard(self.name(), pk) } else { self.name().to_owned() }
    }

    pub(crate) fn partitions(self) -> Vec<String> {
        if self.is_sharded() { shards(self.name()).collect() } else { vec![self.name().to_owned()] }
    }
}
