//! Work in the index `due`: reading it, and postponing what failed.

use std::time::Duration;

use domain::Instant;
use runtime::{Clock, Error};
use store::{Due, Setup, Store, StoreError, keys::DueList};

/// Reads due work and postpones what failed. Clones share the connections.
#[derive(Clone)]
pub struct DueWork {
    store: Store,
    clock: Clock,
}

impl DueWork {
    /// Reads the tables of `setup`.
    pub fn new(setup: &Setup) -> Self {
        Self { store: setup.store.clone(), clock: setup.clock.clone() }
    }

    /// At most `limit` pieces of work of `list` that are due, the earliest due time first. None if they cannot be
    /// read, which is logged: the next sweep reads again.
    pub async fn waiting(&self, list: DueList, limit: u16) -> Vec<Due> {
        or_none(list, self.store.due(list, self.clock.now(), limit).await)
    }

    /// At most `limit` pieces of work of `list`, whatever their due times, the earliest first. None if they cannot be
    /// read, which is logged.
    pub async fn first(&self, list: DueList, limit: u16) -> Vec<Due> {
        or_none(list, self.store.due(list, Instant::MAX, limit).await)
    }

    /// Postpones `due` by `pause` because of `failure`, so that it does not block other work. If it cannot be postponed, which
    /// is logged, it stays due.
    pub async fn postpone(&self, due: &Due, failure: &Error, pause: Duration) {
        let (cause, now) = (failure.to_string(), self.clock.now());
        if let Err(failure) = self.store.postpone(due, &cause, pause, now).await {
            tracing::error!(%failure, pk = due.pk, "postponing a failed task failed");
        }
    }
}

fn or_none(list: DueList, found: Result<Vec<Due>, StoreError>) -> Vec<Due> {
    found.unwrap_or_else(|failure| {
        tracing::error!(%failure, list = list.code(), "reading due work failed");
        Vec::new()
    })
}
