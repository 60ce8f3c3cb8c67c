//! Requests to the panel, none of them with a token that it has refused recently.

use common::{ApiError, ErrorCode};
use cpanel_client::{Panel, PanelError};
use domain::{Instant, subdomain::Domains};
use store::Store;
use tokio::time::Instant as Monotonic;

use crate::Cpanel;

/// A request that may call the panel.
pub(crate) struct PanelSession {
    store: Store,
    pub(crate) panel: Panel,
    /// When the responses of the panel must have arrived.
    pub(crate) deadline: Monotonic,
    now: Instant,
}

impl Cpanel {
    /// # Errors
    /// `CPANEL_UNAVAILABLE_MESSAGE` when no panel is configured, or it refused the token in the last 15 minutes; an
    /// internal error when that cannot be read.
    pub(crate) async fn panel_session(&self, now: Instant) -> Result<PanelSession, ApiError> {
        let panel = self.panel.clone().ok_or(ErrorCode::CpanelUnavailable)?;
        let deadline = panel.deadline();
        if self.store.is_token_refused(panel.fingerprint(), now).await? {
            return Err(ErrorCode::CpanelUnavailable.into());
        }
        Ok(PanelSession { store: self.store.clone(), panel, deadline, now })
    }
}

impl PanelSession {
    /// The domains of the account.
    pub(crate) async fn domains(&self) -> Result<Domains, PanelError> {
        self.record(self.panel.domains(self.deadline).await).await
    }

    /// Logs a failure, records a refused token and returns `result` unchanged.
    pub(crate) async fn record<T>(&self, result: Result<T, PanelError>) -> Result<T, PanelError> {
        let Err(error) = &result else {
            return result;
        };
        tracing::warn!(%error, "a panel request failed");
        if matches!(error, PanelError::Auth(_)) {
            let recorded =
                self.store.record_refused_token(self.panel.fingerprint(), self.now).await;
            if let Err(failure) = recorded {
                tracing::error!(%failure, "a refused token was not recorded");
            }
        }
        result
    }
}

/// The response code for `error`.
pub(crate) const fn error_code(error: &PanelError) -> ErrorCode {
    match error {
        PanelError::Auth(_) => ErrorCode::CpanelAuth,
        PanelError::Unreachable(_) | PanelError::ConnectionLost(_) => ErrorCode::CpanelUnreachable,
        PanelError::TimedOut => ErrorCode::CpanelTimeout,
        PanelError::Refused(_) | PanelError::Malformed(_) => ErrorCode::CpanelRefused,
    }
}
