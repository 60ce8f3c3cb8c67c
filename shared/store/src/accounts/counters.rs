//! Counters of a window: failed attempts, messages, and requests that cost much.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{Instant, limits::Limit};
use futures_util::future::join_all;

use crate::{
    CommitOutcome, Part, Store, StoreError, Transaction, Window,
    keys::{self, Key},
};

/// A limit: at most `max` for `key` in a window of the length `window`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// What is counted, such as `password-network`; a name in PascalCase is also the metric of what was refused.
    pub name: &'static str,
    /// The account, network or combination that it is counted for. Stored as a hash.
    pub key: String,
    /// Maximum number per window.
    pub max: u64,
    /// Length of the window.
    pub window: Duration,
}

impl Counter {
    /// The counter of `limit` for `key`.
    pub fn of(limit: Limit, key: impl ToString) -> Self {
        let Limit { name, max, window } = limit;
        Self { name, key: key.to_string(), max, window }
    }
}

/// Counts added in advance to several counters; by default to none. They stay unless they are released.
#[derive(Debug, Default)]
#[must_use = "it stays counted unless it is released"]
pub struct Reservation(Vec<(Key, Window)>);

impl Reservation {
    /// What [`Store::reserve`] returned, with `None` for a full counter.
    ///
    /// # Errors
    /// The other ones of `reserved`.
    pub fn unless_full(reserved: Result<Self, StoreError>) -> Result<Option<Self>, StoreError> {
        match reserved {
            Ok(reservation) => Ok(Some(reservation)),
            Err(StoreError::Full { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The counts of both.
    pub fn and(mut self, mut other: Self) -> Self {
        self.0.append(&mut other.0);
        self
    }
}

/// Cache of windows that are probably open: counting in them takes one write instead of two. A wrong entry costs
/// the second write.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenWindows(Arc<Mutex<HashMap<String, Instant>>>);

/// The cache is cleared at this size.
const MAX_REMEMBERED: usize = 10_000;

impl OpenWindows {
    fn seems_open(&self, key: &Key, now: Instant) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key.pk)
            .is_some_and(|ends| now < *ends)
    }

    fn remember(&self, key: &Key, ends: Instant) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_REMEMBERED {
            windows.clear();
        }
        windows.insert(key.pk.clone(), ends);
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key.pk);
    }
}

impl Store {
    /// Adds one to each of `counters`, concurrently, before an attempt that may fail. When one of them exceeds its
    /// limit, all are released, so that a blocked network cannot fill an account's counter.
    ///
    /// # Errors
    /// [`StoreError::Full`] with the counter whose window ends last, a 429 for the client, and those of the store. The
    /// attempt must not be made then.
    pub async fn reserve(
        &self,
        counters: &[Counter],
        now: Instant,
    ) -> Result<Reservation, StoreError> {
        let counted = join_all(counters.iter().map(|counter| self.counted(counter, now))).await;
        let (mut reservation, mut full, mut failed) = (Reservation::default(), None, None);
        for (counter, counted) in counters.iter().zip(counted) {
            match counted {
                Ok((key, window)) => {
                    if window.count > counter.max {
                        full = full.max(Some((window.ends.since(now), counter.name)));
                    }
                    reservation.0.push((key, window));
                }
                Err(error) => failed = Some(error),
            }
        }
        let full = full.map(|(wait, name)| StoreError::Full { name, wait });
        let Some(error) = failed.or(full) else {
            return Ok(reservation);
        };
        // A count that cannot be released remains until its window ends.
        let _ = self.release(reservation).await;
        Err(error)
    }

    /// Adds one to `counter`, and returns the count of its window. In contrast to [`reserve`](Self::reserve) it stays
    /// counted beyond the limit, so that the time is the same for a full counter.
    pub async fn count_one(
        &self,
        counter: &Counter,
        now: Instant,
    ) -> Result<(Reservation, u64), StoreError> {
        let (key, window) = self.counted(counter, now).await?;
        Ok((Reservation(vec![(key, window)]), window.count))
    }

    async fn counted(&self, counter: &Counter, now: Instant) -> Result<(Key, Window), StoreError> {
        let key = keys::counter(counter.name, &counter.key);
        let seems_open = self.open_windows.seems_open(&key, now);
        let window = self.count(&key, counter.window, now, seems_open).await?;
        self.open_windows.remember(&key, window.ends);
        Ok((key, window))
    }

    /// Subtracts the counts of `reservation`; those whose windows have ended are gone already. After an error they
    /// remain until their windows end.
    pub async fn release(&self, reservation: Reservation) -> Result<(), StoreError> {
        let decrements =
            reservation.0.iter().map(|(key, window)| self.apply(self.decrement(key, *window)));
        let mut released = join_all(decrements).await.into_iter();
        released.try_for_each(|released| released.map(|_| ()))
    }
}

impl Transaction {
    /// As [`commit`](Self::commit), and releases `reserved` in the same request; it is empty afterwards. Unless
    /// everything was written, `reserved` is unchanged, and the caller releases it. When the outcome is unknown, that
    /// may subtract a count twice, but never below zero.
    ///
    /// The counter of a network is no hot item: the rate limit lets 100 requests a minute of one network pass.
    pub async fn commit_and_release(
        self,
        reserved: &mut Reservation,
    ) -> Result<CommitOutcome, StoreError> {
        let mut releasing = self.clone();
        for (key, window) in &reserved.0 {
            releasing.update(Part::Counter, self.store.decrement(key, *window));
        }
        match releasing.commit().await? {
            CommitOutcome::Committed => {
                reserved.0.clear();
                Ok(CommitOutcome::Committed)
            }
            // One of the windows has ended in the meantime.
            CommitOutcome::ConditionFailed(Part::Counter) => self.commit().await,
            failed => Ok(failed),
        }
    }
}
