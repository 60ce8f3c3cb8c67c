//! When a service of somebody else's is asked, and when it is left alone: the state that all processes share,
//! and what it lets a caller do.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Instant;

/// How long nobody asks after the secret was refused. cPanel may ban an address after five bad ones.
pub const REFUSED_FOR: Duration = Duration::from_secs(15 * 60);
/// How long nobody asks after [`MOST_FAILURES`].
pub const FAILED_FOR: Duration = Duration::from_secs(60);
/// So many in a row are a service that is not there.
pub const MOST_FAILURES: u32 = 3;
/// A trial takes no longer, or its process is gone: somebody else may try then.
pub const PROBE_LIFE: Duration = Duration::from_secs(30);

/// What is known of a service and a secret for it. The default is one that nobody has tried yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// Whether the secret has worked, and was not refused since.
    #[serde(default)]
    pub proven: bool,
    /// Failures in a row; [`MOST_FAILURES`] when the secret was refused.
    #[serde(default)]
    pub failures: u32,
    /// Until when nobody asks but for a trial that is under way, in Unix milliseconds; 0 for now.
    #[serde(default)]
    pub shut: i64,
    /// Whether it is shut for a trial.
    #[serde(default)]
    pub trial: bool,
}

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// Ask.
    Closed,
    /// Try, if nobody is faster.
    HalfOpen,
    /// Look again in a moment: somebody is just trying a secret that nobody has used before.
    Probing,
    /// Go away.
    Open,
}

impl Breaker {
    /// What a caller may do at `now`.
    pub const fn state(&self, now: Instant) -> BreakerState {
        let is_shut = self.shut > now.unix_milliseconds();
        match (is_shut, self.is_sound()) {
            (true, _) if self.trial && !self.proven && self.failures < MOST_FAILURES => {
                BreakerState::Probing
            }
            (true, _) => BreakerState::Open,
            (false, true) => BreakerState::Closed,
            (false, false) => BreakerState::HalfOpen,
        }
    }

    /// Whether any number may ask at once.
    pub const fn is_sound(&self) -> bool {
        self.proven && self.failures < MOST_FAILURES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_ask_when() {
        let now = Instant::from_unix_milliseconds(1_000_000);
        let new = Breaker::default();
        let sound = Breaker {
            proven: true,
            ..new
        };
        let later = now.unix_milliseconds() + 1;
        for (what, breaker, way) in [
            ("nobody has tried it", new, BreakerState::HalfOpen),
            (
                "somebody tries it for the first time",
                Breaker {
                    shut: later,
                    trial: true,
                    ..new
                },
                BreakerState::Probing,
            ),
            (
                "whoever tried it is gone",
                Breaker {
                    shut: now.unix_milliseconds(),
                    trial: true,
                    ..new
                },
                BreakerState::HalfOpen,
            ),
            ("it works", sound, BreakerState::Closed),
            (
                "it failed twice",
                Breaker {
                    failures: 2,
                    ..sound
                },
                BreakerState::Closed,
            ),
            (
                "it failed three times",
                Breaker {
                    failures: 3,
                    shut: later,
                    ..sound
                },
                BreakerState::Open,
            ),
            (
                "its minute is over",
                Breaker {
                    failures: 3,
                    shut: now.unix_milliseconds(),
                    ..sound
                },
                BreakerState::HalfOpen,
            ),
            (
                "somebody looks whether it is back",
                Breaker {
                    failures: 3,
                    shut: later,
                    trial: true,
                    ..sound
                },
                BreakerState::Open,
            ),
            (
                "the secret was refused",
                Breaker {
                    failures: 3,
                    shut: later,
                    ..new
                },
                BreakerState::Open,
            ),
            (
                "somebody tries it again",
                Breaker {
                    failures: 3,
                    shut: later,
                    trial: true,
                    ..new
                },
                BreakerState::Open,
            ),
        ] {
            assert_eq!(breaker.state(now), way, "{what}");
        }
    }
}
