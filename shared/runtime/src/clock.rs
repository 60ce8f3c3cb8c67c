//! The only source of the current time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::Instant;

/// The system clock with an offset that tests change. Clones share the offset.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    offset: Arc<AtomicI64>,
}

impl Clock {
    /// The current time, in whole milliseconds.
    #[expect(clippy::disallowed_methods, reason = "the only reader of the clock")]
    pub fn now(&self) -> Instant {
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let milliseconds = i64::try_from(system.as_millis()).unwrap_or(i64::MAX);
        Instant::from_unix_milliseconds(
            milliseconds.saturating_add(self.offset.load(Ordering::Relaxed)),
        )
    }

    /// Moves the clock forward by `by`.
    pub fn advance(&self, by: Duration) {
        self.offset.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// Moves the clock back by `by`.
    pub fn step_back(&self, by: Duration) {
        self.offset.fetch_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}
