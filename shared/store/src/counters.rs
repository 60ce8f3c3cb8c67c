//! Security counters: how often something may go wrong before nobody is let try.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::Instant;
use futures_util::future::join_all;

use crate::{
    Store, StoreError, Window,
    keys::{self, Key},
};

/// A bound on failures: at most `most` of them for `key` in a window of `length`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// What is counted, such as `login-account`.
    pub name: &'static str,
    /// For whom: an account, a network, both. Stored as a hash.
    pub key: String,
    /// How many are let pass.
    pub most: u64,
    /// For how long the window stays open.
    pub length: Duration,
}

/// Places taken in counters before the work whose failure they count.
#[derive(Debug)]
#[must_use = "a success gives its places back"]
pub struct Reservation(Vec<(Key, Window)>);

/// Windows that this process believes open: they are counted in with one write instead of two. A belief
/// that is wrong costs that second write, no more.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenWindows(Arc<Mutex<HashMap<String, Instant>>>);

/// No process remembers more of them.
const MOST_REMEMBERED: usize = 10_000;

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
        if windows.len() >= MOST_REMEMBERED {
            windows.clear();
        }
        windows.insert(key.pk.clone(), ends);
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&key.pk);
    }
}

impl Store {
    /// Takes a place in each of `counters`, side by side, before work that may fail. When one is
    /// full, all places are given back, so that a network that is shut out cannot fill an
    /// account's counter; then the inner error says when the last of the full windows ends.
    ///
    /// # Errors
    /// When the counters cannot be asked: then nobody may try.
    pub async fn reserve(
        &self,
        counters: &[Counter],
        now: Instant,
    ) -> Result<Result<Reservation, Instant>, StoreError> {
        let keys: Vec<Key> = counters
            .iter()
            .map(|counter| keys::counter(counter.name, &counter.key))
            .collect();
        let seems_open = |key: &Key| self.open_windows.seems_open(key, now);
        let counts = keys
            .iter()
            .zip(counters)
            .map(|(key, counter)| self.count(key, counter.length, now, seems_open(key)));
        let counted = join_all(counts).await;
        let (mut taken, mut windows, mut failed) = (Vec::new(), Vec::new(), None);
        for (key, counted) in keys.into_iter().zip(counted) {
            match counted {
                Ok(window) => {
                    self.open_windows.remember(&key, window.ends);
                    taken.push((key, window));
                    windows.push(window);
                }
                Err(error) => failed = Some(error),
            }
        }
        let reservation = Reservation(taken);
        if let Some(error) = failed {
            // What cannot be given back stays taken until its window ends.
            let _ = self.give_back(reservation).await;
            return Err(error);
        }

        let full = windows
            .iter()
            .zip(counters)
            .filter(|(window, counter)| window.count > counter.most)
            .map(|(window, _)| window.ends);
        let ends = full.max();
        match ends {
            None => Ok(Ok(reservation)),
            Some(ends) => {
                self.give_back(reservation).await?;
                Ok(Err(ends))
            }
        }
    }

    /// Gives the places back: what they were taken for did not fail.
    ///
    /// # Errors
    /// When the store is out of reach: then they stay taken until their windows end.
    pub async fn give_back(&self, reservation: Reservation) -> Result<(), StoreError> {
        let places = reservation
            .0
            .iter()
            .map(|(key, window)| self.uncount(key, *window));
        join_all(places).await.into_iter().collect()
    }
}
