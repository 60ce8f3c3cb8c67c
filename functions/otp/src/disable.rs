//! `DELETE /otp`: disables the caller's one-time passwords; requires their password and a code.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, InvalidValue, Message, Now, SignedIn,
    input, success,
};
use domain::{
    Constraint, Instant, otp::Proof, outbox::AccountEvent, password, session::Session, user::User,
};
use secrecy::{ExposeSecret, SecretString};
use store::Transaction;

use crate::{Otp, SubmittedCode, condition_error};

input! {
    pub(crate) struct DisableOtpRequest {
        password: Option<SecretString> = optional_secret("password"),
        code: SubmittedCode = group(SubmittedCode::read),
    }
}

/// Checks the password first, so that without it the response reveals nothing about the code.
pub(crate) async fn disable(
    State(otp): State<Otp>,
    Now(now): Now,
    client: Client,
    person: SignedIn,
    Input(request): Input<DisableOtpRequest>,
) -> ApiResult<Empty> {
    let (store, hasher, password) = (&otp.store, &otp.hasher, request.password.as_ref());
    let attempt = attempts::verify_owner(store, hasher, &person, password, &client, now).await?;
    let SignedIn { user, session, .. } = person;
    let id = user.user_id;
    let verified = async {
        otp.require_long_password(&user, password)?;
        otp.verify_code(id, session.sid, &request.code, &client, now).await
    };
    let ((_, proof), attempt) = attempt.end_with(verified).await?;
    let deleted = otp.delete_secret(user, session, &proof, now);
    let counters = attempts::of_change("otpDisabled", id);
    attempt.end_with(attempts::counted(store, &counters, now, deleted)).await?;
    success(Message::OtpDisabled, Empty {})
}

impl Otp {
    /// Checks that an administrator's password is long enough for an account without a second factor.
    ///
    /// # Errors
    /// `PASSWORD_TOO_SHORT_MESSAGE` on `password`.
    fn require_long_password(
        &self,
        user: &User,
        password: Option<&SecretString>,
    ) -> Result<(), ApiError> {
        let length = |password: &SecretString| password::length(password.expose_secret());
        let is_short = |password| length(password) < self.min_length_admin;
        if !(user.profile.is_admin() && password.is_some_and(is_short)) {
            return Ok(());
        }
        let constraint = Constraint::password(self.min_length_admin);
        let code = ErrorCode::PasswordTooShort;
        Err(ApiError::field("password", InvalidValue { code, constraint }))
    }

    /// Deletes the secret with its recovery codes, and notifies the owner.
    async fn delete_secret(
        &self,
        user: User,
        session: Session,
        proof: &Proof,
        now: Instant,
    ) -> Result<(User, Session), ApiError> {
        let (id, verified) = (user.user_id, session.epoch);
        let decide = |user: &User, session: &Session, tx: &mut Transaction| {
            // The password may have been changed since it was verified.
            if session.epoch != verified {
                return Err(ErrorCode::Conflict.into());
            }
            tx.remove_otp(id, Some(proof));
            let disabled = AccountEvent::OtpDisabled { by_administrator: false };
            tx.send(&self.outbox.notify(user, disabled, now)?);
            Ok(user.changed(|user| {
                user.is_otp_enabled = false;
                user.is_otp_verified = false;
            }))
        };
        self.store.update_own(user, session, now, decide, condition_error).await
    }
}
