//! The circuit breaker in front of the panel: no request passes while it is open, one probe at a time while it is
//! half-open. An outcome is recorded if it changes the state.

use std::time::Duration;

use common::{ApiError, ErrorCode};
use cpanel_client::{Panel, PanelError, RequestBudget};
use domain::{Instant, breaker::BreakerState};
use store::{Probe, Store, StoreError};
use tokio::time::{Instant as Monotonic, sleep};

use crate::{Cpanel, domain_cache::DomainCache};

/// How often a request that waits for another request's probe reads the state.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long a request waits for a probe. A panel responds within a second or two.
const MAX_WAIT: Duration = Duration::from_secs(4);

/// A request that may call the panel.
pub(crate) struct PanelSession {
    store: Store,
    pub(crate) panel: Panel,
    pub(crate) budget: RequestBudget,
    pub(crate) domain_cache: DomainCache,
    /// When the breaker let the request pass, by the wall clock and by the monotonic clock.
    pub(crate) started: (Instant, Monotonic),
    probe: Option<Probe>,
    /// Whether the breaker counts failures that a success resets.
    has_failures: bool,
}

impl Cpanel {
    /// Lets a request that arrived at `now` pass, or waits for the outcome of another request's probe.
    ///
    /// # Errors
    /// `CPANEL_UNAVAILABLE_MESSAGE` when no panel is configured or the breaker stays open; an internal error when
    /// the state of the breaker cannot be read.
    pub(crate) async fn panel_session(&self, now: Instant) -> Result<PanelSession, ApiError> {
        let panel = self.panel.clone().ok_or(ErrorCode::CpanelUnavailable)?;
        let (secret, start) = (panel.fingerprint(), Monotonic::now());
        loop {
            let now = now.after(start.elapsed());
            let breaker = self.store.breaker(secret).await?;
            let (probe, is_closed) = match breaker.state(now) {
                BreakerState::Closed => (None, true),
                BreakerState::HalfOpen => (self.store.begin_probe(secret, now).await?, false),
                BreakerState::Probing if start.elapsed() < MAX_WAIT => {
                    sleep(POLL_INTERVAL).await;
                    continue;
                }
                BreakerState::Probing | BreakerState::Open => {
                    return Err(ErrorCode::CpanelUnavailable.into());
                }
            };
            if is_closed || probe.is_some() {
                let budget =
                    if is_closed { panel.budget(start) } else { panel.probe_budget(start) };
                return Ok(PanelSession {
                    store: self.store.clone(),
                    domain_cache: self.domain_cache.clone(),
                    panel,
                    budget,
                    started: (now, Monotonic::now()),
                    probe,
                    has_failures: breaker.failures > 0,
                });
            }
            // Another request began the probe first: wait for its outcome.
        }
    }
}

impl PanelSession {
    /// Logs a failure, records the outcome in the breaker and returns `result` unchanged.
    pub(crate) async fn record<T>(
        &mut self,
        result: Result<T, PanelError>,
    ) -> Result<T, PanelError> {
        if let Err(error) = &result {
            tracing::warn!(%error, "a panel request failed");
        }
        if let Err(failure) = self.record_outcome(&result).await {
            // The probe expires by itself.
            tracing::error!(%failure, "the outcome of a panel request was not recorded");
        }
        result
    }

    async fn record_outcome<T>(
        &mut self,
        result: &Result<T, PanelError>,
    ) -> Result<(), StoreError> {
        let (now, secret) =
            (self.started.0.after(self.started.1.elapsed()), self.panel.fingerprint());
        match result {
            // An error response also proves that the panel is reachable and accepts the token.
            Ok(_) | Err(PanelError::Refused(_)) if self.probe.is_some() || self.has_failures => {
                self.has_failures = false;
                self.store.record_success(secret, self.probe.take(), now).await
            }
            Ok(_) | Err(PanelError::Refused(_)) => Ok(()),
            Err(PanelError::Auth(_)) => {
                self.probe = None;
                self.store.record_rejection(secret, now).await
            }
            Err(
                PanelError::Unreachable(_) | PanelError::ConnectionLost(_) | PanelError::TimedOut,
            ) => {
                self.has_failures = true;
                self.store.record_failure(secret, self.probe.take(), now).await
            }
            Err(PanelError::Malformed(_) | PanelError::NotSent | PanelError::TimedOutWaiting) => {
                match self.probe.take() {
                    Some(probe) => self.store.end_probe(secret, probe, now).await,
                    None => Ok(()),
                }
            }
        }
    }
}

/// The response code for `error`.
pub(crate) const fn error_code(error: &PanelError) -> ErrorCode {
    match error {
        PanelError::Auth(_) => ErrorCode::CpanelAuth,
        PanelError::Unreachable(_) | PanelError::ConnectionLost(_) => ErrorCode::CpanelUnreachable,
        PanelError::TimedOut | PanelError::TimedOutWaiting => ErrorCode::CpanelTimeout,
        PanelError::NotSent => ErrorCode::CpanelUnavailable,
        PanelError::Refused(_) | PanelError::Malformed(_) => ErrorCode::CpanelRefused,
    }
}
