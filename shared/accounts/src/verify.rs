//! Verification of one-time codes.

use std::future::Future;

use common::{ApiError, Client};
use domain::{
    Email, Instant, UserId,
    code::{Challenge, Code, CodeKind},
};
use futures_util::future::join_all;
use identity::code::id_of_link;
use store::{Reservation, StoreError};

use crate::{
    Codes, attempts,
    codes::{PURPOSE, mac_input},
    email_challenge, pending_email_challenge,
};

/// A code that [`Codes::verify`] found. The attempt is counted at it.
#[derive(Debug)]
pub struct VerifiedCode {
    /// The stored code.
    pub code: Code,
    /// The challenge under which it is stored.
    pub challenge: Challenge,
    /// The reserved attempt, for the caller to release.
    pub reserved: Reservation,
}

impl Codes {
    /// Finds the code of `kind` for `challenge` whose digits or link code is `text` and which is valid for the network of
    /// `client`. The caller uses it up, or calls [`return_unless_used`](Self::return_unless_used), and releases the
    /// reservation. `None` when there is none; the attempt stays counted then.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when the network has had too many wrong attempts.
    pub async fn verify(
        &self,
        kind: CodeKind,
        challenge: Challenge,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        let tried = self.count_attempts(kind, [challenge], client, now);
        self.verify_among(kind, tried, text, client, now).await
    }

    /// As [`verify`](Self::verify), for a code that verifies `email`: that of the account with the address, or of an
    /// account that wants it. Six digits do not name the account: they find the codes of `caller`, whose session it is,
    /// and of the ten newest accounts that want the address; the long code names its account.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub async fn verify_address(
        &self,
        email: &Email,
        caller: Option<UserId>,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        let kind = CodeKind::Email;
        let named = id_of_link(text).map(UserId::new).or(caller);
        let wanted_by = |user| pending_email_challenge(email, user);
        let known = [Some(email_challenge(email)), named.map(wanted_by)];
        let tried = async {
            let (mut codes, newest) = tokio::try_join!(
                self.count_attempts(kind, known.into_iter().flatten(), client, now),
                self.store.pending_codes(wanted_by(UserId::in_path("")))
            )?;
            let others = newest.into_iter().map(|code| code.user_id);
            let others = others.filter(|user| Some(*user) != named).map(wanted_by);
            codes.extend(self.count_attempts(kind, others, client, now).await?);
            Ok(codes)
        };
        self.verify_among(kind, tried, text, client, now).await
    }

    /// Counts an attempt at the code of each of `challenges`, and returns those that are valid for the network of `client`.
    /// It makes the same write when there is no code, so that the time does not reveal it.
    async fn count_attempts(
        &self,
        kind: CodeKind,
        challenges: impl IntoIterator<Item = Challenge>,
        client: &Client,
        now: Instant,
    ) -> Result<Vec<(Challenge, Code)>, StoreError> {
        let tries = challenges.into_iter().map(|challenge| async move {
            let store = &self.store;
            let code = store
                .count_attempt(kind, challenge, &client.network, now)
                .await?;
            Ok(code.map(|code| (challenge, code)))
        });
        let codes: Result<Vec<_>, StoreError> = join_all(tries).await.into_iter().collect();
        Ok(codes?.into_iter().flatten().collect())
    }

    /// Compares `text` with the codes that `tried` returns, at which an attempt is counted. If it is right, the attempts
    /// at the others are returned.
    async fn verify_among(
        &self,
        kind: CodeKind,
        tried: impl Future<Output = Result<Vec<(Challenge, Code)>, StoreError>>,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        let counters = attempts::of_code(client);
        let (reserved, codes) = tokio::join!(attempts::reserve(&self.store, &counters, now), tried);
        let (reserved, mut codes) = match (reserved, codes) {
            (Ok(reserved), Ok(codes)) => (reserved, codes),
            (Ok(reserved), Err(error)) => {
                let _ = self.store.release(reserved).await;
                return Err(error.into());
            }
            (Err(error), codes) => {
                // A blocked network does not use up the attempts of the others.
                self.return_attempts(kind, &codes.unwrap_or_default(), client)
                    .await;
                return Err(error);
            }
        };
        let matches = |(challenge, code): &(Challenge, Code)| {
            let data = mac_input(kind, *challenge, text);
            let (digits, link) = (
                self.sealer.is_mac(&code.digits, PURPOSE, &data),
                self.sealer.is_mac(&code.link, PURPOSE, &data),
            );
            digits | link
        };
        let Some(at) = codes.iter().position(matches) else {
            return Ok(None);
        };
        let (challenge, code) = codes.swap_remove(at);
        self.return_attempts(kind, &codes, client).await;
        Ok(Some(VerifiedCode {
            code,
            challenge,
            reserved,
        }))
    }

    /// Returns the attempt at `code` if `used` is an error: only wrong attempts stay counted.
    pub async fn return_unless_used<T>(
        &self,
        (kind, challenge, code): (CodeKind, Challenge, &Code),
        client: &Client,
        used: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        if used.is_err() {
            let unused = [(challenge, code.clone())];
            self.return_attempts(kind, &unused, client).await;
        }
        used
    }

    /// Returns an attempt at each of `codes`. One whose return fails stays counted.
    async fn return_attempts(&self, kind: CodeKind, codes: &[(Challenge, Code)], client: &Client) {
        let returns = codes.iter().map(|(challenge, code)| {
            self.store
                .return_attempt(kind, *challenge, code, &client.network)
        });
        join_all(returns).await;
    }
}
