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

/// A code that [`Codes::verify`] found.
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
    /// `client`. The caller marks it as used and releases its reservation. `None` when there is none; then the failed
    /// attempt is counted.
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
        let read = async {
            let code = self.store.code(kind, challenge).await?;
            Ok(code.map(|code| (challenge, code)).into_iter().collect())
        };
        self.verify_among(kind, challenge, read, text, client, now)
            .await
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
        let current = email_challenge(email);
        let read = async {
            let of_named = async {
                match named {
                    Some(user) => self.store.code(kind, wanted_by(user)).await,
                    None => Ok(None),
                }
            };
            let (of_owner, of_named, of_newest) = tokio::try_join!(
                self.store.code(kind, current),
                of_named,
                self.store.pending_codes(wanted_by(UserId::in_path("")))
            )?;
            let others = of_newest
                .into_iter()
                .filter(|code| Some(code.user_id) != named);
            let pending = of_named.into_iter().chain(others);
            let pending = pending.map(|code| (wanted_by(code.user_id), code));
            Ok(of_owner
                .map(|code| (current, code))
                .into_iter()
                .chain(pending)
                .collect())
        };
        self.verify_among(kind, current, read, text, client, now)
            .await
    }

    /// Verifies `text` against the codes that `read` returns. A wrong attempt is counted for each of them; when there is
    /// none, the same write is made for `challenge`, so that the time does not reveal it.
    async fn verify_among(
        &self,
        kind: CodeKind,
        challenge: Challenge,
        read: impl Future<Output = Result<Vec<(Challenge, Code)>, StoreError>>,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        let counters = attempts::of_code(client);
        let (reserved, codes) = tokio::join!(attempts::reserve(&self.store, &counters, now), read);
        let reserved = reserved?;
        let codes = match codes {
            Ok(codes) => codes,
            Err(error) => {
                let _ = self.store.release(reserved).await;
                return Err(ApiError::from(error));
            }
        };
        let matches = |(challenge, code): &&(Challenge, Code)| {
            let data = mac_input(kind, *challenge, text);
            let (digits, link) = (
                self.sealer.is_mac(&code.digits, PURPOSE, &data),
                self.sealer.is_mac(&code.link, PURPOSE, &data),
            );
            (digits | link) && code.is_valid(&client.network, now)
        };
        if let Some((challenge, code)) = codes.iter().find(matches).cloned() {
            return Ok(Some(VerifiedCode {
                code,
                challenge,
                reserved,
            }));
        }
        let found: Vec<Challenge> = codes.iter().map(|(challenge, _)| *challenge).collect();
        let tried = if found.is_empty() {
            vec![challenge]
        } else {
            found
        };
        let counted = join_all(tried.into_iter().map(|challenge| {
            self.store
                .count_failed_attempt(kind, challenge, &client.network, now)
        }));
        counted.await.into_iter().collect::<Result<(), _>>()?;
        Ok(None)
    }
}
