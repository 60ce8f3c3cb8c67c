//! The gate in front of the panel: nobody passes while the breaker is open, one at a time while nothing is
//! known, and what became of each question is noted where it changes something.

use std::time::Duration;

use common::{ApiError, ErrorCode};
use cpanel_client::{Panel, PanelError, Visit};
use domain::{Instant, breaker::Way};
use store::{Store, StoreError, Trial};
use tokio::time::{Instant as Monotonic, sleep};

use crate::{Cpanel, own::Own};

/// How often somebody who waits for another one's trial looks again.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long he does. A panel answers in a second or two.
const LOOK_FOR: Duration = Duration::from_secs(4);

/// Somebody who may ask the panel.
pub(crate) struct Guest {
    store: Store,
    pub(crate) panel: Panel,
    pub(crate) visit: Visit,
    pub(crate) own: Own,
    /// When the request came, by the clock and by the process's own.
    pub(crate) came: (Instant, Monotonic),
    trial: Option<Trial>,
    /// Whether others failed before.
    is_awaited: bool,
}

impl Cpanel {
    /// Lets a request that came at `now` pass, if the panel is there.
    ///
    /// # Errors
    /// `CPANEL_UNAVAILABLE_MESSAGE` when there is none, or the breaker is open; a error when the store is out of
    /// reach, for then nobody knows.
    pub(crate) async fn enter(&self, now: Instant) -> Result<Guest, ApiError> {
        let panel = self.panel.clone().ok_or(ErrorCode::CpanelUnavailable)?;
        let (secret, start) = (panel.fingerprint(), Monotonic::now());
        loop {
            let now = now.after(start.elapsed());
            let breaker = self.store.breaker(secret).await?;
            let (trial, is_free) = match breaker.way(now) {
                Way::Free => (None, true),
                Way::Trial => (self.store.begin_trial(secret, now).await?, false),
                Way::Soon if start.elapsed() < LOOK_FOR => {
                    sleep(LOOK_EVERY).await;
                    continue;
                }
                Way::Soon | Way::Shut => return Err(ErrorCode::CpanelUnavailable.into()),
            };
            if is_free || trial.is_some() {
                let visit = if is_free {
                    panel.visit(start)
                } else {
                    panel.trial(start)
                };
                return Ok(Guest {
                    store: self.store.clone(),
                    own: self.own.clone(),
                    panel,
                    visit,
                    came: (now, Monotonic::now()),
                    trial,
                    is_awaited: breaker.failures > 0,
                });
            }
            // Somebody was faster; what he found out is looked up like everybody's.
        }
    }
}

impl Guest {
    /// What became of a question, with what it changes for everybody.
    pub(crate) async fn hear<T>(
        &mut self,
        answered: Result<T, PanelError>,
    ) -> Result<T, PanelError> {
        if let Err(error) = &answered {
            tracing::warn!(%error, "the panel did not do what it was asked");
        }
        if let Err(failure) = self.note(&answered).await {
            // The trial ends by itself.
            tracing::error!(%failure, "what became of a question to the panel was not noted");
        }
        answered
    }

    async fn note<T>(&mut self, answered: &Result<T, PanelError>) -> Result<(), StoreError> {
        let (now, secret) = (
            self.came.0.after(self.came.1.elapsed()),
            self.panel.fingerprint(),
        );
        match answered {
            // Who says no has let us in.
            Ok(_) | Err(PanelError::Refused(_)) if self.trial.is_some() || self.is_awaited => {
                self.is_awaited = false;
                self.store
                    .note_success(secret, self.trial.take(), now)
                    .await
            }
            Ok(_) | Err(PanelError::Refused(_)) => Ok(()),
            Err(PanelError::Auth(_)) => {
                self.trial = None;
                self.store.note_refusal(secret, now).await
            }
            Err(
                PanelError::Unreachable(_) | PanelError::ConnectionLost(_) | PanelError::TimedOut,
            ) => {
                self.is_awaited = true;
                self.store
                    .note_failure(secret, self.trial.take(), now)
                    .await
            }
            Err(PanelError::Malformed(_) | PanelError::NotSent | PanelError::TimedOutWaiting) => {
                match self.trial.take() {
                    Some(trial) => self.store.end_trial(secret, trial, now).await,
                    None => Ok(()),
                }
            }
        }
    }
}

/// What a client is told of `error`.
pub(crate) const fn told_of(error: &PanelError) -> ErrorCode {
    match error {
        PanelError::Auth(_) => ErrorCode::CpanelAuth,
        PanelError::Unreachable(_) | PanelError::ConnectionLost(_) => ErrorCode::CpanelUnreachable,
        PanelError::TimedOut | PanelError::TimedOutWaiting => ErrorCode::CpanelTimeout,
        PanelError::NotSent => ErrorCode::CpanelUnavailable,
        PanelError::Refused(_) | PanelError::Malformed(_) => ErrorCode::CpanelRefused,
    }
}
