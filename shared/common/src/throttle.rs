//! The rate limit: requests per window and key, counted exactly across processes in the store.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::Instant;
use store::{Store, StoreError};

/// The state of a key, from which the `X-RateLimit` headers are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimitState {
    /// Requests per window.
    pub(crate) limit: u64,
    /// Requests left in this window.
    pub(crate) remaining: u64,
    /// The end of the window.
    pub(crate) ends: Instant,
    /// The time from which `Retry-After` counts.
    pub(crate) now: Instant,
    /// Whether this request exceeds the limit.
    pub(crate) is_over: bool,
}

/// Counts requests per key. It remembers the windows that the store returned, so that a request over the limit needs no
/// write until the window ends; every other request needs one.
#[derive(Clone)]
pub struct Throttle {
    store: Store,
    limit: u64,
    window: Duration,
    known: Arc<Mutex<HashMap<String, KnownWindow>>>,
}

/// The window that this process last saw of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct KnownWindow {
    ends: Instant,
    count: u64,
}

/// Windows that one process remembers.
const MAX_KNOWN: usize = 10_000;

impl Throttle {
    /// Allows `limit` requests per `window` and key.
    pub fn new(store: Store, limit: u64, window: Duration) -> Self {
        Self { store, limit, window, known: Arc::default() }
    }

    /// Counts a request of `key` at `now`.
    pub(crate) async fn count(&self, key: &str, now: Instant) -> RateLimitState {
        if let Some(over) = self.known_over_limit(key, now) {
            return over;
        }
        let open = self.known(key).filter(|known| now < known.ends);
        match self.store.count_request(key, self.window, now, open.is_some()).await {
            Ok(window) => {
                let known = KnownWindow { count: window.count, ends: window.ends };
                // Responses may arrive out of order: within a window the highest count is the latest.
                let next = |former: KnownWindow| {
                    if former.ends == known.ends { former.max(known) } else { known }
                };
                self.remember(key, now, next, known);
                self.rate_limit(known, now)
            }
            // The key is far over any limit. Not remembered, because the end of its window is not known.
            Err(StoreError::HotKey) => {
                let ends = open.map_or_else(|| now.after(self.window), |known| known.ends);
                self.rate_limit(KnownWindow { ends, count: self.limit + 1 }, now)
            }
            Err(failure) => {
                tracing::warn!(%failure, "the rate limit is counted in memory");
                self.count_in_memory(key, now)
            }
        }
    }

    /// While the store is unavailable or throttles the whole table, each process counts for itself instead of failing every
    /// request.
    fn count_in_memory(&self, key: &str, now: Instant) -> RateLimitState {
        let fresh = KnownWindow { ends: now.after(self.window), count: 1 };
        let next = |former: KnownWindow| {
            if now < former.ends {
                KnownWindow { count: former.count + 1, ..former }
            } else {
                fresh
            }
        };
        self.rate_limit(self.remember(key, now, next, fresh), now)
    }

    /// The state of `key` if this process remembers that it is over its limit.
    pub(crate) fn known_over_limit(&self, key: &str, now: Instant) -> Option<RateLimitState> {
        let known = self.known(key).filter(|known| now < known.ends && known.count > self.limit)?;
        Some(self.rate_limit(known, now))
    }

    fn rate_limit(&self, known: KnownWindow, now: Instant) -> RateLimitState {
        let remaining = self.limit.saturating_sub(known.count);
        // A concurrent request may have opened the window after this request's `now`; `Retry-After` must not exceed
        // one window.
        let now = now.max(known.ends.before(self.window));
        RateLimitState {
            limit: self.limit,
            remaining,
            ends: known.ends,
            now,
            is_over: known.count > self.limit,
        }
    }

    fn known(&self, key: &str) -> Option<KnownWindow> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Replaces the window of `key` by `next` of the former one, or by `first`, and returns it.
    fn remember(
        &self,
        key: &str,
        now: Instant,
        next: impl FnOnce(KnownWindow) -> KnownWindow,
        first: KnownWindow,
    ) -> KnownWindow {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_KNOWN {
            all.retain(|_, known| now < known.ends);
        }
        if all.len() >= MAX_KNOWN {
            // A forgotten window costs one more write and is still counted exactly.
            all.clear();
        }
        let known = all.get(key).map_or(first, |former| next(*former));
        all.insert(key.to_owned(), known);
        known
    }
}
