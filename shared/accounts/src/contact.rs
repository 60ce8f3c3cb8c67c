//! Changes of an account's e-mail address and phone number.

use common::ApiError;
use domain::{
    Email, Instant, Phone,
    code::CodeKind,
    outbox::{Notification, Recipient},
    user::User,
};
use store::Transaction;

use crate::{Codes, pending_email_challenge};

impl Codes {
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
