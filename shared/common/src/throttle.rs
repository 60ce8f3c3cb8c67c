//! The public limit: so many requests per window, counted in the store, exact across containers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::Instant;
use store::{Store, StoreError};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    ends: Instant,
    count: u64,
}

/// No container remembers more keys.
const MOST_KNOWN: usize = 10_000;

impl Throttle {
    /// `limit` requests per `window`.
    pub fn new(store: Store, limit: u64, window: Duration) -> Self {
        Self {
            store,
            limit,
            window,
            known: Arc::default(),
        }
    }

    /// Counts a request of `key` at `now`.
    pub(crate) async fn count(&self, key: &str, now: Instant) -> Standing {
        if let Some(over) = self.known_over(key, now) {
            return over;
        }
        let open = self.known(key).filter(|known| now < known.ends);
        match self
            .store
            .count_request(key, self.window, now, open.is_some())
            .await
        {
            Ok(window) => {
                let known = Known {
                    count: window.count,
                    ends: window.ends,
                };
                // Answers may arrive out of order: in one window the highest count is the last.
                self.remember(
                    key,
                    now,
                    |former| {
                        if former.ends == known.ends {
                            former.max(known)
                        } else {
                            known
                        }
                    },
                    known,
                );
                self.standing(known, now)
            }
            // So many requests for one key that its item is throttled: more than any limit. Not
            // remembered, for it may have been the table.
            Err(StoreError::Throttled) => {
                let ends = open.map_or_else(|| now.after(self.window), |known| known.ends);
                self.standing(
                    Known {
                        ends,
                        count: self.limit + 1,
                    },
                    now,
                )
            }
            // The store is out of reach: better a container that counts alone than nobody served.
            Err(failure) => {
                tracing::warn!(%failure, "the public limit is counted in memory");
                let fresh = Known {
                    ends: now.after(self.window),
                    count: 1,
                };
                let next = |former: Known| {
                    if now < former.ends {
                        Known {
                            count: former.count + 1,
                            ..former
                        }
                    } else {
                        fresh
                    }
                };
                self.standing(self.remember(key, now, next, fresh), now)
            }
        }
    }

    /// Where `key` stands if this container remembers that it is over.
    pub(crate) fn known_over(&self, key: &str, now: Instant) -> Option<Standing> {
        let known = self
            .known(key)
            .filter(|known| now < known.ends && known.count > self.limit)?;
        Some(self.standing(known, now))
    }

    fn standing(&self, known: Known, now: Instant) -> Standing {
        let remaining = self.limit.saturating_sub(known.count);
        // Of two requests at once, one may have been counted into a window that the other opened a
        // moment later: nobody is told to wait for longer than a window.
        let now = now.max(known.ends.before(self.window));
        Standing {
            limit: self.limit,
            remaining,
            ends: known.ends,
            now,
            is_over: known.count > self.limit,
        }
    }

    fn known(&self, key: &str) -> Option<Known> {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(key)
            .copied()
    }

    /// Remembers what `next` makes of what was known of `key`, or `first`, and gives it.
    fn remember(
        &self,
        key: &str,
        now: Instant,
        next: impl FnOnce(Known) -> Known,
        first: Known,
    ) -> Known {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_KNOWN {
            all.retain(|_, known| now < known.ends);
        }
        if all.len() >= MOST_KNOWN {
            // What is forgotten costs a write more and is still counted exactly.
            all.clear();
        }
        let known = all.get(key).map_or(first, |former| next(*former));
        all.insert(key.to_owned(), known);
        known
    }
}
