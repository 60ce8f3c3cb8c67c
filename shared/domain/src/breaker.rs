//! Circuit breaker for a third-party service: the state that all processes share, and what a caller may do in it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Instant;

/// How long the breaker is open after the service rejected the secret. cPanel may ban an address after five failed
/// sign-ins.
pub const OPEN_AFTER_REJECTION: Duration = Duration::from_secs(15 * 60);
/// How long the breaker is open after [`MOST_FAILURES`] failures.
pub const OPEN_AFTER_FAILURES: Duration = Duration::from_secs(60);
/// Consecutive failures that open the breaker.
pub const MOST_FAILURES: u32 = 3;
/// Longest duration of a probe. After that its process is assumed to be gone and another caller may probe.
pub const PROBE_LIFE: Duration = Duration::from_secs(30);

/// Breaker state of one secret for a service. The default is a secret that was never used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// Whether the secret has worked and was not rejected since.
    #[serde(default)]
    pub proven: bool,
    /// Consecutive failures; [`MOST_FAILURES`] if the secret was rejected.
    #[serde(default)]
    pub failures: u32,
    /// Unix milliseconds until which no request is allowed, except a probe that has already begun; 0 if there is no
    /// such restriction.
    #[serde(default)]
    pub shut: i64,
    /// Whether `shut` was set by a probe.
    #[serde(default)]
    pub trial: bool,
}

/// What callers may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// Send requests.
    Closed,
    /// Send one probe, if no other caller has claimed it.
    HalfOpen,
    /// Read the state again shortly: another caller is probing a secret that was never used before.
    Probing,
    /// Send no request.
    Open,
}

impl Breaker {
    /// The state at `now`.
    pub const fn state(&self, now: Instant) -> BreakerState {
        let is_blocked = self.shut > now.unix_milliseconds();
        match (is_blocked, self.is_sound()) {
            (true, _) if self.trial && !self.proven && self.failures < MOST_FAILURES => {
                BreakerState::Probing
            }
            (true, _) => BreakerState::Open,
            (false, true) => BreakerState::Closed,
            (false, false) => BreakerState::HalfOpen,
        }
    }

    /// Whether concurrent requests are allowed once `shut` has passed: the secret has worked and fewer than
    /// [`MOST_FAILURES`] requests have failed since.
    pub const fn is_sound(&self) -> bool {
        self.proven && self.failures < MOST_FAILURES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaker_state_follows_failures_probe_and_time() {
        use BreakerState::{Closed, HalfOpen, Open, Probing};
        let now = Instant::from_unix_milliseconds(1_000_000);
        let (past, later) = (now.unix_milliseconds(), now.unix_milliseconds() + 1);
        for (case, proven, failures, shut, trial, expected) in [
            ("new secret", false, 0, 0, false, HalfOpen),
            ("first probe of a new secret", false, 0, later, true, Probing),
            ("first probe expired", false, 0, past, true, HalfOpen),
            ("secret works", true, 0, 0, false, Closed),
            ("two failures", true, 2, 0, false, Closed),
            ("three failures", true, 3, later, false, Open),
            ("three failures, a minute ago", true, 3, past, false, HalfOpen),
            ("probe after failures", true, 3, later, true, Open),
            ("secret rejected", false, 3, later, false, Open),
            ("probe after a rejected secret", false, 3, later, true, Open),
        ] {
            let breaker = Breaker { proven, failures, shut, trial };
            assert_eq!(breaker.state(now), expected, "{case}");
        }
    }
}
