//! Verification of one-time codes.

use common::{ApiError, Client};
use domain::{
    Instant, UserId,
    code::{Challenge, Code, CodeKind},
    limits,
};
use identity::code::is_digits;
use store::{Counter, Reservation};

use crate::{
    Codes, attempts,
    codes::{PURPOSE, mac_input},
};

/// A code that [`Codes::verify`] found.
#[derive(Debug)]
pub struct VerifiedCode {
    /// The stored code.
    pub code: Code,
    kind: CodeKind,
    challenge: Challenge,
    /// Whether the digits were given: then an attempt is counted at the code.
    is_counted: bool,
    /// The reserved attempt, for the caller to release.
    pub reserved: Reservation,
}

impl Codes {
    /// Finds the code of `kind` for `challenge` whose digits or link code is `text`. The caller uses it up, or calls
    /// [`return_unless_used`](Self::return_unless_used), and releases the reservation. `None` when there is none.
    ///
    /// The link's code is compared before anything is counted, so that no number of wrong attempts refuses it. Attempts at
    /// the digits are counted per code and network, per network, and per account for a day: `account` is the challenge of
    /// its address in force, also if no account has the address.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when the network has had too many wrong digits.
    pub async fn verify(
        &self,
        (kind, challenge): (CodeKind, Challenge),
        account: Challenge,
        text: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        if is_digits(text) {
            return self.verify_digits((kind, challenge), account, text, client, now).await;
        }
        let code = self.store.code(kind, challenge, now).await?;
        let input = mac_input(kind, challenge, text);
        let code = code.filter(|code| self.sealer.is_mac(&code.link, PURPOSE, &input));
        let reserved = Reservation::default();
        Ok(code.map(|code| VerifiedCode { code, kind, challenge, is_counted: false, reserved }))
    }

    /// Makes the same writes when there is no code, so that the time does not reveal it. Once the account has had its
    /// wrong digits of a day, right ones are wrong, too.
    async fn verify_digits(
        &self,
        (kind, challenge): (CodeKind, Challenge),
        account: Challenge,
        digits: &str,
        client: &Client,
        now: Instant,
    ) -> Result<Option<VerifiedCode>, ApiError> {
        let of_account = Counter::of(limits::DIGITS, account);
        let per_network = attempts::per_network(limits::DIGITS_NETWORK, client, str::to_owned);
        let (code, counted, of_network) = tokio::join!(
            self.store.count_attempt(kind, challenge, &client.network, now),
            self.store.count_one(&of_account, now),
            self.store.reserve(&per_network, now)
        );
        let (mut reserved, mut is_full, mut error) = (Reservation::default(), false, None);
        let code = code.unwrap_or_else(|failure| {
            error = Some(failure.into());
            None
        });
        match counted {
            Ok((counted, count)) => (reserved, is_full) = (counted, count > of_account.max),
            Err(failure) => error = Some(failure.into()),
        }
        match of_network {
            Ok(Ok(counted)) => reserved = reserved.and(counted),
            Ok(Err(full)) => {
                let user = code.as_ref().map_or(UserId::NONE, |code| code.user_id);
                if !attempts::has_signed_in_from(&self.store, user, client, now).await {
                    error = Some(ApiError::too_many_attempts(full.ends.since(now)));
                }
            }
            Err(failure) => error = Some(failure.into()),
        }
        if let Some(error) = error {
            // A blocked network does not use up the attempts of the others.
            let returned = async {
                if let Some(code) = &code {
                    let network = &client.network;
                    let _ = self.store.return_attempt(kind, challenge, code, network).await;
                }
            };
            let _ = tokio::join!(returned, self.store.release(reserved));
            return Err(error);
        }
        let input = mac_input(kind, challenge, digits);
        let is_right = |code: &Code| self.sealer.is_mac(&code.digits, PURPOSE, &input) && !is_full;
        let code = code.filter(is_right);
        Ok(code.map(|code| VerifiedCode { code, kind, challenge, is_counted: true, reserved }))
    }

    /// Returns the attempt at `verified` if `used` is an error: only wrong attempts stay counted.
    pub async fn return_unless_used<T>(
        &self,
        verified: &VerifiedCode,
        client: &Client,
        used: Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let VerifiedCode { kind, challenge, code, is_counted, .. } = verified;
        if used.is_err() && *is_counted {
            // One whose return fails stays counted.
            let _ = self.store.return_attempt(*kind, *challenge, code, &client.network).await;
        }
        used
    }
}
