//! The rate limit of a handler that begins while its request is being counted.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;
use tokio::sync::watch;

use crate::{ApiError, ErrorCode};

/// Whether the request is within the rate limit. Handlers of [`Routes::early`](crate::Routes::early) may only read
/// before [`counted`](Self::counted) returns.
#[derive(Debug, Clone)]
pub struct PendingLimit(Option<watch::Receiver<Option<bool>>>);

impl PendingLimit {
    /// A request that is being counted, and where to tell whether it is over the limit.
    pub(crate) fn new() -> (watch::Sender<Option<bool>>, Self) {
        let (counted, pending) = watch::channel(None);
        (counted, Self(Some(pending)))
    }

    /// Waits until the request is counted.
    ///
    /// # Errors
    /// `TOO_MANY_REQUESTS_MESSAGE` when it is over the limit.
    pub async fn counted(self) -> Result<(), ApiError> {
        let Some(mut pending) = self.0 else {
            return Ok(());
        };
        let is_over = pending.wait_for(Option::is_some).await;
        match is_over.map(|is_over| *is_over) {
            Ok(Some(false)) => Ok(()),
            _ => Err(ErrorCode::TooManyRequests.into()),
        }
    }
}

/// Without the extension the request was counted before its handler was called.
impl<S: Send + Sync> FromRequestParts<S> for PendingLimit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or(Self(None)))
    }
}
