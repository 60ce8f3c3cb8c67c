//! Verification of one-time codes.

use common::{ApiError, Client};
use domain::{
    Instant, UserId,
    code::{Challenge, Code, CodeId},
    limits,
};
use identity::code::is_digits;
use store::{Counter, Reservation, StoreError};

use crate::{
    Codes,
    attempts::{self, Attempt, CodeAttempt, Failed},
    codes::{PURPOSE, mac_input},
};

impl Codes {
    /// Finds the code `id` whose digits or link code is `text`. The caller uses it up, and ends the
    /// attempt. `None` when there is none.
    ///
    /// The link's code is compared before anything is counted, so that no number of wrong attempts refuses it. Attempts at
    /// the digits are counted per code and network, per network, and per account for a day: `account` is the challenge of
    /// its address in force, also if no account has the address.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when the network has had too many wrong digits.
    pub async fn verify<'a>(
        &'a self,
        id: CodeId,
        account: Challenge,
        text: &str,
        client: &'a Client,
        now: Instant,
    ) -> Result<Option<(Code, Attempt<'a>)>, ApiError> {
        if is_digits(text) {
            return self.verify_digits(id, account, text, client, now).await;
        }
        let code = self.store.code(id, now).await?;
        let input = mac_input(id, text);
        let code = code.filter(|code| self.sealer.is_mac(&code.link, PURPOSE, &input));
        Ok(code.map(|code| (code, Attempt::uncounted(&self.store, client, now))))
    }

    /// Makes the same writes when there is no code, so that the time does not reveal it. Once the account has had its
    /// wrong digits of a day, right ones are wrong, too.
    async fn verify_digits<'a>(
        &'a self,
        id: CodeId,
        account: Challenge,
        digits: &str,
        client: &'a Client,
        now: Instant,
    ) -> Result<Option<(Code, Attempt<'a>)>, ApiError> {
        let of_account = Counter::of(limits::DIGITS, account);
        let per_network = attempts::per_network(limits::DIGITS_NETWORK, client, str::to_owned);
        let (code, account_count, of_network) = tokio::join!(
            self.store.count_attempt(id, &client.network, now),
            self.store.count_one(&of_account, now),
            self.store.reserve(&per_network, now)
        );
        let (mut reserved, mut is_full, mut error) = (Reservation::default(), false, None);
        let code = code.unwrap_or_else(|failure| {
            error = Some(failure.into());
            None
        });
        match account_count {
            Ok((reservation, count)) => (reserved, is_full) = (reservation, count > of_account.max),
            Err(failure) => error = Some(failure.into()),
        }
        let user = code.as_ref().map_or(UserId::NONE, |code| code.user_id);
        match of_network {
            Ok(reservation) => reserved = reserved.and(reservation),
            Err(full @ StoreError::Full { .. }) => {
                let is_known = attempts::has_signed_in_from(&self.store, user, client, now).await;
                let failure = match is_known {
                    Ok(true) => None,
                    Ok(false) => Some(full),
                    Err(failure) => Some(failure),
                };
                error = error.or(failure.map(ApiError::from));
            }
            Err(failure) => error = Some(failure.into()),
        }
        let code_attempt = code.clone().map(|code| CodeAttempt { id, code });
        let uncounted = Attempt::uncounted(&self.store, client, now);
        let attempt = Attempt { reserved, code: code_attempt, ..uncounted };
        if let Some(error) = error {
            // A blocked network does not use up the attempts of the others.
            return attempt.end(Err(Failed::Error(error))).await;
        }
        let input = mac_input(id, digits);
        let is_right = |code: &Code| self.sealer.is_mac(&code.digits, PURPOSE, &input) && !is_full;
        let code = code.filter(is_right);
        Ok(code.map(|code| (code, attempt)))
    }
}
