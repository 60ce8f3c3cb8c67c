//! `DELETE /otp`: disables the caller's one-time passwords; requires their password and a code.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, SignedIn, input, secret,
    success,
};
use domain::{Instant, otp::Proof, outbox::Notification, session::Session, user::User};
use secrecy::SecretString;
use store::Transaction;

use crate::{Otp, SubmittedCode, condition_error};

input! {
    pub(crate) struct DisableOtpRequest {
        password: SecretString = required("password", secret),
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
    let SignedIn { user, session, .. } = person;
    let (_, password_attempt) =
        attempts::verify_password(&otp.store, &otp.hasher, &user, &request.password, &client, now)
            .await?;
    let (verified, _) = tokio::join!(
        otp.verify_code(user.user_id, session.sid, &request.code, &client, now),
        otp.store.release(password_attempt)
    );
    let (stored, proof, code_attempt) = verified?;
    let (disabled, _) = tokio::join!(
        otp.delete_secret(user, session, &proof, stored.recovery.len(), now),
        otp.store.release(code_attempt)
    );
    disabled?;
    success(Message::OtpDisabled, Empty {})
}

impl Otp {
    /// Deletes the secret with its recovery codes, of which `left` were unused, and notifies the owner.
    async fn delete_secret(
        &self,
        user: User,
        session: Session,
        proof: &Proof,
        left: usize,
        now: Instant,
    ) -> Result<(User, Session), ApiError> {
        let (id, verified) = (user.user_id, session.epoch);
        let delete = |user: &User, session: &Session, tx: &mut Transaction| {
            // The password may have been changed since it was verified.
            if session.epoch != verified {
                return Err(ErrorCode::Conflict.into());
            }
            tx.remove_otp(id, Some(proof));
            let disabled = Notification::OtpDisabled { at: now, by_administrator: false };
            tx.send(&self.outbox.notify(user, disabled, now)?);
            if matches!(proof, Proof::Recovery(_)) {
                let used = Notification::RecoveryCodeUsed { left: left.saturating_sub(1), at: now };
                tx.send(&self.outbox.notify(user, used, now)?);
            }
            Ok(user.changed(|user| {
                user.is_otp_enabled = false;
                user.is_otp_verified = false;
            }))
        };
        self.store.update_own(user, session, now, delete, condition_error).await
    }
}
