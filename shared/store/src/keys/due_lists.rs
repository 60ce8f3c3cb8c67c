//! The lists of pending work in the index `due`.

use super::{shard, shards};

domain::codes! {
    /// A list of pending work, and its partition key, without the number of a shard. The item of a piece of work is in it
    /// until the work is done.
    DueList {
        /// Codes, and mails that are not sent in numbers, until they are sent.
        Outbox "OUTBOX"
        /// Mails in numbers, such as one to each person registered for a course, until they are sent: at a rate, so that no
        /// code waits behind them.
        Mails "MAILS"
        /// Single text messages, until they are sent.
        Single "SINGLE"
        /// Messages of batches that wait for their turn: their due times are turns. Only the sweep
        /// sends them, not the stream.
        Bulk "BULK"
        /// Messages of batches whose turn has come: taken by a sweep, claimed, or to be sent again.
        Started "STARTED"
        /// Chunks of batches, until they are expanded into messages.
        Chunks "CHUNKS"
        /// New accounts, until they are verified or erased.
        Unverified "UNVERIFIED"
        /// Erased users, until their data is deleted.
        Erase "ERASE"
        /// Courses, until their search entries are current, and their seats, announcements and certificates, until nothing is left
        /// to do with them.
        Courses "COURSES"
        /// Files, until they are uploaded or deleted.
        Files "FILES"
        /// Work that has failed for a day, until an operator handles it.
        Dead "DEAD"
    }
}

impl DueList {
    /// Whether it is in 16 partitions, `#00` to `#0f` by a hash of the item's key: the messages of all users pass through.
    /// Every sweep reads each partition, so other lists have one.
    pub const fn is_sharded(self) -> bool {
        matches!(self, Self::Outbox | Self::Single | Self::Bulk | Self::Started)
    }

    /// The list with the partition key `due_pk`.
    pub fn of(due_pk: &str) -> Option<Self> {
        let name = due_pk.split('#').next()?;
        Self::ALL.into_iter().find(|list| list.code() == name)
    }

    /// The partition key of the item with the partition key `pk` in this list.
    pub(crate) fn partition_of(self, pk: &str) -> String {
        if self.is_sharded() { shard(self.code(), pk) } else { self.code().to_owned() }
    }

    pub(crate) fn partitions(self) -> Vec<String> {
        if self.is_sharded() { shards(self.code()).collect() } else { vec![self.code().to_owned()] }
    }
}
