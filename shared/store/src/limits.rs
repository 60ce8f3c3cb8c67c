//! Fixed windows that begin with a key's first request, exact across all containers.

use std::time::Duration;

use domain::Instant;
use serde::Deserialize;

use crate::{
    Store, StoreError,
    keys::{self, Key},
    write::Write,
};

/// Turns of opening and counting; each that fails means that another request was faster.
const MOST_TURNS: u32 = 50;

/// Where a key stands in its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The number of this request in the window, from 1.
    pub count: u64,
    /// When the window ends.
    pub ends: Instant,
}

#[derive(Deserialize)]
struct Stored {
    n: u64,
    exp: i64,
}

impl Store {
    /// Counts a request of the public limit's `key`. `seems_open` says whether the caller
    /// remembers a window that is still open: then counting is tried before opening.
    ///
    /// # Errors
    /// `Throttled` when the key's item is asked more than DynamoDB takes, which means that the
    /// key is far over any limit; `Unavailable` when nothing is known.
    pub async fn count_request(
        &self,
        key: &str,
        length: Duration,
        now: Instant,
        seems_open: bool,
    ) -> Result<Window, StoreError> {
        self.count(&keys::limit(key), length, now, seems_open).await
    }

    /// Two updates of which exactly one can hold at any time, tried in turn with the same `now`:
    /// with a fresh one each, a window that ends between them would take neither. Both can fail when
    /// others open and close the window in between, so they are tried until one of them holds.
    pub(crate) async fn count(
        &self,
        key: &Key,
        length: Duration,
        now: Instant,
        seems_open: bool,
    ) -> Result<Window, StoreError> {
        for number in 0..MOST_TURNS {
            let open = (number % 2 == 0) != seems_open;
            let update = if open {
                self.opening(key, length, now)
            } else {
                self.counting(key, now)
            };
            if let Some(Stored { n, exp }) = self.update_item(update).await? {
                return Ok(Window {
                    count: n,
                    ends: Instant::from_unix_milliseconds(exp),
                });
            }
        }
        Err(StoreError::TransactionConflict)
    }

    fn opening(&self, key: &Key, length: Duration, now: Instant) -> Write {
        let ends = now.after(length);
        Write::at(key)
            .when("attribute_not_exists(exp) OR exp <= :now")
            .expression("SET n = :one, exp = :ends, #ttl = :ttl")
            .name("#ttl", "ttl")
            .number(":now", now.unix_milliseconds())
            .number(":one", 1)
            .number(":ends", ends.unix_milliseconds())
            .number(":ttl", ends.unix_seconds() + 60)
    }

    fn counting(&self, key: &Key, now: Instant) -> Write {
        Write::at(key)
            .when("exp > :now")
            .expression("ADD n :one")
            .number(":now", now.unix_milliseconds())
            .number(":one", 1)
    }

    /// Gives one back to `window`, if it is still there. The last one closes it, so that the next begins a
    /// window of its own with one write. Which of the two this is, is tried in the likelier order.
    pub(crate) async fn uncount(&self, key: &Key, window: Window) -> Result<(), StoreError> {
        let update = |condition: &str, expression: &str| {
            Write::at(key)
                .when(condition)
                .expression(expression)
                .number(":ends", window.ends.unix_milliseconds())
                .number(":one", 1)
        };
        let last =
            update("exp = :ends AND n = :one", "REMOVE exp SET n = :zero").number(":zero", 0);
        let one_of_many = update("exp = :ends AND n > :one", "ADD n :less").number(":less", -1);
        if window.count == 1 {
            // It is about to close.
            self.open_windows.forget(key);
        }
        let (first, second) = if window.count == 1 {
            (last, one_of_many)
        } else {
            (one_of_many, last)
        };
        if !self.apply(first).await? {
            self.update_item::<serde::de::IgnoredAny>(second).await?;
        }
        Ok(())
    }
}
