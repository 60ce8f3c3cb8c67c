//! Verification of one-time codes.

use std::future::Future;

use common::{ApiError, Client};
use domain::{
    Email, Instant, UserId,
    code::{Challenge, Code, CodeKind},
    limits,
};
use futures_util::future::join_all;
use identity::code::id_of_link;
use store::{Counter, Reservation, StoreError};

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
        let tried = async {
            let mut codes = Vec::new();
            let counted = self.count_attempts(kind, [challenge], client, now, &mut codes);
            (counted.await, codes)
        };
        self.verify_among(kind, tried, text, client, now).await
    }

    /// As [`verify`](Self::verify), for a code that verifies `email`: that of the account with the address, or of an
    /// account that wants it. Six digits do not name the account: they find the codes of `caller`, whose session it is,
    /// and of the ten newest accounts that want the address and whose code has not expired; the long code names its account.
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
            let (known, mut codes) = (known.into_iter().flatten(), Vec::new());
            let counted = async {
                let (counted, newest) = tokio::join!(
                    self.count_attempts(kind, known, client, now, &mut codes),
                    self.store.pending_codes(wanted_by(UserId::NONE), now)
                );
                counted?;
                let others = newest?.into_iter().map(|code| code.user_id);
                let others = others.filter(|user| Some(*user) != named).map(wanted_by);
                self.count_attempts(kind, others, client, now, &mut codes).await
            };
            (counted.await, codes)
        };
        self.verify_among(kind, tried, text, client, now).await
    }

    /// Counts an attempt at the code of each of `challenges`, and adds those that are valid for the network of `client` to
    /// `codes`, also if another attempt cannot be counted. It makes the same write when there is no code, so that the
    /// time does not reveal it.
    async fn count_attempts(
        &self,
        kind: CodeKind,
        challenges: impl IntoIterator<Item = Challenge>,
        client: &Client,
        now: Instant,
        codes: &mut Vec<(Challenge, Code)>,
    ) -> Result<(), StoreError> {
        let tries = challenges.into_iter().map(|challenge| async move {
            let store = &self.store;
            let code = store.count_attempt(kind, challenge, &client.network, now).await?;
            Ok(code.map(|code| (challenge, code)))
        });
        let mut counted = Ok(());
        for code in join_all(tries).await {
            match code {
                Ok(code) => codes.extend(code),
                Err(error) => counted = Err(error),
            }
        }
        counted
    }

    /// Compares `text` with the codes of `tried`, at which an attempt is counted. If it is right, the attempts at the others
    /// are returned, and all of them after an error.
    async fn verify_among(
        &self,
        kind: CodeKind,
        tried: impl Future<Output = (Result<(), StoreError>, Vec<(Challenge, Code)>)>,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        let counters = [Counter::of(limits::CODE_NETWORK, &client.network)];
        let (reserved, (counted, mut codes)) =
            tokio::join!(attempts::reserve(&self.store, &counters, now), tried);
        let reserved = match (reserved, counted) {
            (Ok(reserved), Ok(())) => reserved,
            (Ok(reserved), Err(error)) => {
                let _ = tokio::join!(
                    self.return_attempts(kind, &codes, client),
                    self.store.release(reserved)
                );
                return Err(error.into());
            }
            (Err(error), _) => {
                // A blocked network does not use up the attempts of the others.
                self.return_attempts(kind, &codes, client).await;
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
        Ok(Some(VerifiedCode { code, challenge, reserved }))
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
            self.store.return_attempt(kind, *challenge, code, &client.network)
        });
        join_all(returns).await;
    }
}
