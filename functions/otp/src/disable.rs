//! `DELETE /otp`: the caller turns his one-time passwords off, with his password and a code.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, Input, Message, Now, SignedIn, input, secret, success,
};
use domain::{Instant, otp::Proof, outbox::News, session::Session, user::User};
use secrecy::SecretString;
use store::Transaction;

use crate::{Answered, Otp, invalid, refused};

input! {
    pub(crate) struct DisableOtpRequest {
        password: SecretString = required("password", secret),
        answered: Answered = group(Answered::read),
    }
}

/// The password comes first: who does not know it hears nothing of the code.
pub(crate) async fn disable(
    State(otp): State<Otp>,
    Now(now): Now,
    client: Client,
    person: SignedIn,
    Input(request): Input<DisableOtpRequest>,
) -> ApiResult<Empty> {
    let SignedIn { user, session, .. } = person;
    let id = user.user_id;
    let codes = request.answered.counters(id, &session.sid.to_string());
    let (_, password_places) = attempts::verify_password(
        &otp.store,
        &otp.hasher,
        &user,
        &request.password,
        &client,
        now,
    )
    .await?;
    let (code_places, kept, _) = tokio::join!(
        attempts::reserve(&otp.store, &codes, now),
        otp.store.otp(id),
        otp.store.give_back(password_places)
    );
    let (code_places, kept) = (code_places?, kept?);
    let proof = request
        .answered
        .proof(&otp, id, kept.as_ref(), now)?
        .ok_or_else(invalid)?;
    let left = kept.map_or(0, |kept| kept.recovery.len());
    // Places that cannot be given back are free when their windows end.
    let (disabled, _) = tokio::join!(
        otp.turn_off(user, &session, &proof, left, now),
        otp.store.give_back(code_places)
    );
    disabled?;
    success(Message::OtpDisabled, Empty {})
}

impl Otp {
    /// The secret and its recovery codes, of which `left` were left, go, and the owner is told.
    async fn turn_off(
        &self,
        user: User,
        session: &Session,
        proof: &Proof,
        left: usize,
        now: Instant,
    ) -> Result<User, ApiError> {
        let id = user.user_id;
        let turn_off = |user: &User, change: &mut Transaction| {
            if !session.is_alive(user, now) {
                return Err(ApiError::invalid_token());
            }
            change.remove_otp(id, Some(proof));
            let disabled = News::OtpDisabled {
                at: now,
                by_administrator: false,
            };
            change.send(&self.post.tell(user, disabled, now)?);
            if matches!(proof, Proof::Recovery(_)) {
                let used = News::RecoveryCodeUsed {
                    left: left.saturating_sub(1),
                    at: now,
                };
                change.send(&self.post.tell(user, used, now)?);
            }
            Ok(user.changed(|user| {
                user.is_otp_enabled = false;
                user.is_otp_verified = false;
            }))
        };
        self.store.update_user(user, turn_off, refused).await
    }
}
