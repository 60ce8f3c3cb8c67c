//! The only clock.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use domain::Instant;

/// The system's clock, read once per request. Tests move it.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    offset: Arc<AtomicI64>,
}

impl Clock {
    /// Now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn now(&self) -> Instant {
        let system = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let milliseconds = i64::try_from(system.as_millis()).unwrap_or(i64::MAX);
        Instant::from_unix_milliseconds(
            milliseconds.saturating_add(self.offset.load(Ordering::Relaxed)),
        )
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.offset.fetch_add(
            i64::try_from(by.as_millis()).unwrap_or(i64::MAX),
            Ordering::Relaxed,
        );
    }

    /// Moves the clock back.
    pub fn step_back(&self, by: Duration) {
        self.offset.fetch_sub(
            i64::try_from(by.as_millis()).unwrap_or(i64::MAX),
            Ordering::Relaxed,
        );
    }
}
