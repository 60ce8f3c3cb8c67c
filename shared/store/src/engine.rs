//! What all entities use: reads, writes, transactions, retries, and the lists of pending work.

pub(crate) mod due;
pub(crate) mod error;
pub(crate) mod meter;
pub(crate) mod retry;
pub(crate) mod snapshot;
pub(crate) mod table;
pub(crate) mod transaction;
pub(crate) mod update;
pub(crate) mod write;
