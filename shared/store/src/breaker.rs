//! The circuit breaker for requests to cPanel: one item for each token that cPanel has refused, shared by all processes.

use std::time::Duration;

use domain::Instant;
use serde::Deserialize;

use crate::{Store, StoreError, keys, write::Write};

/// How long no request is sent with a token that cPanel has refused: several failures in a row can get the address of
/// the caller blocked.
const OPEN: Duration = Duration::from_secs(15 * 60);

#[derive(Deserialize)]
struct TokenRefusal {
    until: Instant,
}

impl Store {
    /// Whether cPanel refused the token with the fingerprint `token` in the 15 minutes before `now`.
    pub async fn is_token_refused(&self, token: &str, now: Instant) -> Result<bool, StoreError> {
        let refused: Option<TokenRefusal> = self.get(&keys::breaker(token)).await?;
        Ok(refused.is_some_and(|refused| now < refused.until))
    }

    /// Records that cPanel refused the token with the fingerprint `token` at `now`.
    pub async fn record_refused_token(&self, token: &str, now: Instant) -> Result<(), StoreError> {
        let until = now.after(OPEN);
        let update = Write::at(&keys::breaker(token))
            .expression("SET #until = :until, #ttl = :ttl")
            .name("#until", "until")
            .value(":until", &until)
            .expiring(until);
        self.apply(update).await.map(drop)
    }
}
