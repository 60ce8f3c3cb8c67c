//! The public limit: so many requests per window, counted in the store, exact across containers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::Instant;
use store::{Fault, Store};

/// Where the caller stands in the public limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    /// How many requests a window has.
    pub(crate) limit: u64,
    /// How many are left.
    pub(crate) remaining: u64,
    /// When the window ends.
    pub(crate) ends: Instant,
    /// When this was found.
    pub(crate) now: Instant,
    /// Whether this request is one too many.
    pub(crate) is_over: bool,
}

/// Counts requests per key. Remembers what the store said, so that a key which is over is answered
/// without a write until its window ends, and one that is not is counted with one write.
#[derive(Clone)]
pub struct Throttle {
    store: Store,
    limit: u64,
    window: Duration,
    known: Arc<Mutex<HashMap<String, Known>>>,
}

/// What this container last heard of a key.
#[derive(Debug, Clone, Copy)]
struct Known {
    count: u64,
    ends: Instant,
}

/// No container remembers more keys.
const MOST_KNOWN: usize = 10_000;

impl Throttle {
    /// `limit` requests per `window`.
    pub fn new(store: Store, limit: u64, window: Duration) -> Self {
        Self { store, limit, window, known: Arc::default() }
    }

    /// Counts a request of `key` at `now`.
    pub(crate) async fn count(&self, key: &str, now: Instant) -> Standing {
        let open = self.known(key).filter(|known| now < known.ends);
        if let Some(known) = open.filter(|known| known.count > self.limit) {
            return self.standing(known, now);
        }
        let fresh = Known { count: 1, ends: now.after(self.window) };
        let known = match self.store.count_request(key, self.window, now, open.is_some()).await {
            Ok(window) => Known { count: window.count, ends: window.ends },
            // So many requests for one key that its item is throttled: more than any limit.
            Err(Fault::Throttled) => Known { count: self.limit + 1, ends: open.unwrap_or(fresh).ends },
            // The store is out of reach: better a container that counts alone than nobody served.
            Err(failure) => {
                tracing::warn!(%failure, "the public limit is counted in memory");
                open.map_or(fresh, |known| Known { count: known.count + 1, ..known })
            }
        };
        self.remember(key, known, now);
        self.standing(known, now)
    }

    fn standing(&self, known: Known, now: Instant) -> Standing {
        let remaining = self.limit.saturating_sub(known.count);
        Standing { limit: self.limit, remaining, ends: known.ends, now, is_over: known.count > self.limit }
    }

    fn known(&self, key: &str) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn remember(&self, key: &str, known: Known, now: Instant) {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_KNOWN {
            all.retain(|_, known| now < known.ends);
        }
        if all.len() >= MOST_KNOWN {
            // What is forgotten costs a write more and is still counted exactly.
            all.clear();
        }
        // Answers may arrive out of order: in one window the highest count is the last.
        let entry = all.entry(key.to_owned()).or_insert(known);
        if entry.ends != known.ends || entry.count < known.count {
            *entry = known;
        }
    }
}
