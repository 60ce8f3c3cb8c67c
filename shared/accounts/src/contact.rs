//! Changes of an account's e-mail address and phone number.

use common::{ApiError, Client, ErrorCode};
use domain::{
    Email, Instant, Phone, Recipient,
    code::{CodeId, CodeKind},
    limits,
    outbox::AccountEvent,
    user::User,
};
use store::{Counter, Reservation, Transaction};

use crate::{Codes, message_limits, pending_email_challenge};

impl Codes {
    /// Counts a request for `email` as the address of `user`: 1 per `MESSAGE_INTERVAL_SECONDS`, 3 in 15 minutes, 10 a day
    /// and 20 per network in an hour, whether the address is free or not: otherwise the answers would list the addresses
    /// that have an account. Returns the reservation of the mail with the code; `None` when it must not be sent. The address
    /// in force and the pending one are not counted and get no mail.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` when a limit is reached, `EMAIL_ALREADY_USED_MESSAGE` when another account has
    /// `email`.
    pub async fn reserve_email_change(
        &self,
        user: &User,
        email: &Email,
        client: &Client,
        now: Instant,
    ) -> Result<Option<Reservation>, ApiError> {
        let mut mail = None;
        if *email != user.email && user.pending_email.as_ref() != Some(email) {
            let counters = message_limits::of_email_change(user.user_id, client, self.interval);
            // Every request counts, so the reservation is not released.
            let _ = self.store.reserve(&counters, now).await?;
            let of_account =
                message_limits::of_code(CodeKind::Email, user.email.as_str(), self.interval);
            let of_address = Counter::of(limits::CODES_TO_ADDRESS, email);
            let counters: Vec<Counter> = of_account.into_iter().chain([of_address]).collect();
            mail = message_limits::reserve(&self.store, &counters, now).await?;
        }
        let owner = self.store.email_owner(email).await.map_err(ApiError::from);
        let error = match owner {
            Ok(owner) if owner.is_none_or(|owner| owner.user_id == user.user_id) => {
                return Ok(mail);
            }
            Ok(_) => ApiError::field("email", ErrorCode::EmailAlreadyUsed),
            Err(error) => error,
        };
        self.release(mail).await;
        Err(error)
    }

    /// Makes `email` the pending address of `user`, and adds to `transaction` a code to it, if `may_send`, and a
    /// notification to the current address. The change takes effect when the code is verified. The current address
    /// cancels a pending change; the pending one changes nothing. An inactive account gets no message.
    pub fn request_email_change(
        &self,
        transaction: &mut Transaction,
        user: &mut User,
        email: &Email,
        may_send: bool,
        now: Instant,
    ) -> Result<(), ApiError> {
        if *email == user.email {
            user.pending_email = None;
            return Ok(());
        }
        if user.pending_email.as_ref() == Some(email) {
            return Ok(());
        }
        user.pending_email = Some(email.clone());
        if !user.is_active {
            // The code can be requested when the account is active again.
            return Ok(());
        }
        if may_send {
            let challenge = pending_email_challenge(email, user.user_id);
            let to = Recipient::Mail(email.clone());
            self.issue(
                transaction,
                CodeId { kind: CodeKind::Email, challenge },
                Some(user),
                to,
                now,
            )?;
        }
        transaction.send(&self.outbox().notify(user, AccountEvent::EmailChangeRequested, now)?);
        Ok(())
    }

    /// Adds to `tx` the notification of the owner of `before` that their number becomes `phone`, if it is another one.
    pub fn notify_phone_change(
        &self,
        tx: &mut Transaction,
        before: &User,
        phone: &Phone,
        now: Instant,
    ) -> Result<(), ApiError> {
        if *phone != before.phone && before.is_active {
            tx.send(&self.outbox().notify(before, AccountEvent::PhoneChanged, now)?);
        }
        Ok(())
    }
}
