//! Rate limits: fixed windows that begin with a key's first request, exact across all processes.

use std::time::Duration;

use domain::Instant;
use serde::Deserialize;

use crate::{
    Store, StoreError,
    keys::{self, Key},
    write::Write,
};

/// Attempts to open a window or count in it; an attempt fails only when another request was faster.
const MAX_ATTEMPTS: u32 = 50;

/// How long the item of a window is kept after its end.
const TTL_DELAY: Duration = Duration::from_secs(60);

/// The state of a window after a request was counted. A stored window whose count is zero is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The number of this request in the window, starting at 1.
    pub count: u64,
    /// When the window ends.
    pub ends: Instant,
}

#[derive(Deserialize)]
struct WindowItem {
    n: u64,
    exp: i64,
}

impl Store {
    /// Counts a request in the rate limit window of `key`, which is `length` long. `seems_open` is a hint that a
    /// window is open: counting is then tried before opening one.
    ///
    /// # Errors
    /// [`StoreError::HotKey`] when the item receives more requests than DynamoDB serves: the key is far over any limit.
    pub async fn count_request(
        &self,
        key: &str,
        length: Duration,
        now: Instant,
        seems_open: bool,
    ) -> Result<Window, StoreError> {
        self.count(&keys::limit(key), length, now, seems_open).await
    }

    /// Alternates between two updates, of which exactly one condition holds at any time. Both use the same `now`:
    /// otherwise both would fail when the window ends in between. Both can fail when other requests open and
    /// close the window in between, so they are repeated.
    pub(crate) async fn count(
        &self,
        key: &Key,
        length: Duration,
        now: Instant,
        seems_open: bool,
    ) -> Result<Window, StoreError> {
        let mut opens = !seems_open;
        for _ in 0..MAX_ATTEMPTS {
            let update =
                if opens { self.opening(key, length, now) } else { self.counting(key, now) };
            if let Some(WindowItem { n, exp }) = self.update_item(update).await? {
                return Ok(Window { count: n, ends: Instant::from_unix_milliseconds(exp) });
            }
            opens = !opens;
        }
        Err(StoreError::TransactionConflict)
    }

    fn opening(&self, key: &Key, length: Duration, now: Instant) -> Write {
        let ends = now.after(length);
        Write::at(key)
            .when("attribute_not_exists(exp) OR exp <= :now OR n = :zero")
            .expression("SET n = :one, exp = :ends, #ttl = :ttl")
            .expiring(ends.after(TTL_DELAY))
            .number(":now", now.unix_milliseconds())
            .number(":zero", 0)
            .number(":one", 1)
            .number(":ends", ends.unix_milliseconds())
    }

    fn counting(&self, key: &Key, now: Instant) -> Write {
        Write::at(key)
            .when("exp > :now AND n > :zero")
            .expression("ADD n :one")
            .number(":now", now.unix_milliseconds())
            .number(":zero", 0)
            .number(":one", 1)
    }

    /// The update that subtracts one from `window`. Its condition fails when another window has taken the place of this
    /// one. Subtracting the last one closes the window, so that the next request opens a new one with a single write.
    pub(crate) fn decrement(&self, key: &Key, window: Window) -> Write {
        if window.count == 1 {
            // The window is about to close.
            self.open_windows.forget(key);
        }
        Write::at(key)
            .when("exp = :ends AND n > :zero")
            .expression("ADD n :less")
            .number(":ends", window.ends.unix_milliseconds())
            .number(":zero", 0)
            .number(":less", -1)
    }
}
