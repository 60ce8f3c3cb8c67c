//! Changes of an account's e-mail address and phone number.

use common::{ApiError, Client, ErrorCode};
use domain::{
    Email, Instant, Phone,
    code::CodeKind,
    outbox::{Notification, Recipient},
    user::User,
};
use store::{Reservation, Transaction};

use crate::{Codes, pending_email_challenge};

impl Codes {
    /// Counts a request for `email` as the address of `user` and returns the reservation of its mail, as
    /// [`count_email_change`](Self::count_email_change). A request for an address that another account has counts, too:
    /// otherwise the answers would list the addresses that have an account.
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
        let mail = self.count_email_change(user, email, client, now).await?;
        if let Err(error) = self.require_unused(user, email).await {
            self.release(mail).await;
            return Err(error);
        }
        Ok(mail)
    }

    async fn require_unused(&self, user: &User, email: &Email) -> Result<(), ApiError> {
        let owner = self.store.email_owner(email).await?;
        if owner.is_some_and(|owner| owner.user_id != user.user_id) {
            return Err(ApiError::field("email", ErrorCode::EmailAlreadyUsed));
        }
        Ok(())
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
            self.issue(transaction, CodeKind::Email, challenge, Some(user), to, now)?;
        }
        let notification = Notification::EmailChangeRequested { at: now };
        transaction.send(&self.outbox().notify(user, notification, now)?);
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
            let notification = Notification::PhoneChanged { at: now };
            tx.send(&self.outbox().notify(before, notification, now)?);
        }
        Ok(())
    }
}
