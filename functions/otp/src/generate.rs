//! `GET /otp/generate`: returns a new one-time password secret, the same for ten minutes until it is verified.

use axum::extract::State;
use common::{ApiError, ApiResult, Message, Now, Verified, success};
use domain::{
    Instant,
    otp::{ENROLMENT_LIFE, Enrolment},
    session::Session,
};
use identity::totp::{self, Forms, Secret};
use serde::Serialize;

use crate::Otp;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GenerateOtpResponse {
    otp: OtpForms,
    otp_ascii: String,
    otp_hex: String,
    otp_base32: String,
    otp_auth_url: String,
}

#[derive(Serialize)]
struct OtpForms {
    ascii: String,
    hex: String,
    base32: String,
    otpauth_url: String,
}

impl From<Forms> for GenerateOtpResponse {
    fn from(forms: Forms) -> Self {
        Self {
            otp: OtpForms {
                ascii: forms.ascii.clone(),
                hex: forms.hex.clone(),
                base32: forms.base32.clone(),
                otpauth_url: forms.url.clone(),
            },
            otp_ascii: forms.ascii,
            otp_hex: forms.hex,
            otp_base32: forms.base32,
            otp_auth_url: forms.url,
        }
    }
}

/// An existing secret stays in force until the new one is verified.
pub(crate) async fn generate(
    State(otp): State<Otp>,
    Now(now): Now,
    Verified(person): Verified,
) -> ApiResult<GenerateOtpResponse> {
    let user = &person.user;
    person.require_recent(now)?;
    let secret = otp.pending_secret(&person.session, now).await?;
    success(Message::OtpGenerated, GenerateOtpResponse::from(secret.forms(&user.email)))
}

impl Otp {
    /// The pending secret of `session`, or a new one if there is none that is valid; it replaces that of another session.
    /// Concurrent requests of one session get the same one.
    async fn pending_secret(&self, session: &Session, now: Instant) -> Result<Secret, ApiError> {
        let user = session.user_id;
        let place = totp::pending_context(user);
        let attempt = || async {
            let mut tx = self.store.transaction();
            let stored = self.store.enrolment(user).await?;
            if let Some(enrolment) = stored.filter(|enrolment| enrolment.is_valid(session, now)) {
                let secret = Secret::open(&enrolment.sealed, &self.sealer, &place)?;
                return Ok((tx, secret));
            }
            let secret = Secret::generate();
            let enrolment = Enrolment {
                sealed: secret.seal(&self.sealer, &place)?,
                expires_at: now.after(ENROLMENT_LIFE),
                tries: 0,
                session_id: session.sid,
                epoch: session.epoch,
            };
            tx.begin_enrolment(user, &enrolment, now);
            Ok((tx, secret))
        };
        self.store.update(attempt, |_| None).await
    }
}
