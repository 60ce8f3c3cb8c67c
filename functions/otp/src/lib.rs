//! The Lambda function `otp`: enrolling and disabling one-time passwords, their step of a sign-in, and recovery codes.

mod disable;
mod generate;
mod recovery_codes;
mod verify;

use accounts::{
    Sessions,
    attempts::{self, Attempt, AttemptCounters, Failed},
};
use common::{ApiError, Client, ErrorCode, Fields, InvalidField, InvalidValue, Routes, text};
use domain::{
    Instant, SessionId, UserId,
    code::TypedCode,
    otp::{Otp as StoredOtp, Proof},
};
use identity::{
    outbox::OutboxSealer,
    password::Hasher,
    sealing::Sealer,
    totp::{self, Secret},
};
use runtime::{ConfigError, Key};
use serde_json::Value;
use store::{Part, Setup, Store};

/// The keys that this function reads: to sign and verify tokens, and to seal secrets and notifications.
pub const KEYS: &[Key] = &[Key::TokenSigning, Key::TokenPublic, Key::Sealing, Key::Outbox];

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Otp {
    store: Store,
    sessions: Sessions,
    sealer: Sealer,
    outbox: OutboxSealer,
    hasher: Hasher,
    /// Minimum length of administrators' passwords without one-time passwords.
    min_length_admin: u64,
}

/// The routes of this function: everything under `/otp`.
///
/// # Errors
/// As [`Sessions::new`], or when `PASSWORD_MIN_LENGTH_ADMIN` (default 15) is no number.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let otp = Otp {
        store: setup.store.clone(),
        sessions: Sessions::new(setup)?,
        sealer: setup.keys.parse(Key::Sealing)?,
        outbox: setup.keys.parse(Key::Outbox)?,
        hasher: Hasher::default(),
        min_length_admin: setup.settings.number("PASSWORD_MIN_LENGTH_ADMIN", 15)?,
    };
    Ok(Routes::default()
        .delete("/otp", disable::disable)
        .effect("/otp/generate", generate::generate)
        .post("/otp/verify", verify::verify)
        .sign_in()
        .post("/otp/recovery-codes", recovery_codes::renew)
        .no_store("/otp")
        .with_state(otp))
}

/// A submitted code.
pub(crate) enum SubmittedCode {
    /// A one-time password of the authenticator app.
    Code(String),
    /// A recovery code.
    Recovery(String),
}

impl SubmittedCode {
    /// Reads `code`, or `recoveryCode` if there is no `code`.
    fn read(fields: &mut Fields) -> Result<Self, InvalidField> {
        if fields.has("recoveryCode") && !fields.has("code") {
            return fields.required("recoveryCode", code).map(Self::Recovery);
        }
        fields.required("code", code).map(Self::Code)
    }

    /// The counters of wrong codes for `user` and `challenge`, the id of a session or pending token.
    fn counters(&self, user: UserId, challenge: &str, client: &Client) -> AttemptCounters {
        match self {
            Self::Code(_) => attempts::of_otp(user, challenge),
            Self::Recovery(_) => attempts::of_recovery(user, challenge, client),
        }
    }

    /// Verifies the code against `stored`, the secret of `user`, and returns the secret and what the code proves.
    ///
    /// # Errors
    /// [`Failed::Wrong`] when it is wrong or there is no secret.
    fn verify(
        &self,
        otp: &Otp,
        user: UserId,
        stored: Option<StoredOtp>,
        now: Instant,
    ) -> Result<(StoredOtp, Proof), Failed> {
        let wrong = Failed::Wrong(ErrorCode::OtpInvalid);
        let Some(stored) = stored else {
            return Err(wrong);
        };
        let secret = Secret::open(&stored.sealed, &otp.sealer, &totp::active_context(user))?;
        let proof = match self {
            Self::Code(code) => secret.step_of(code, now, stored.last_step).map(Proof::Step),
            Self::Recovery(code) => {
                let mac = secret.recovery_mac(code);
                stored.recovery.contains_key(&mac).then_some(Proof::Recovery(mac))
            }
        };
        proof.map(|proof| (stored, proof)).ok_or(wrong)
    }
}

impl Otp {
    /// Verifies `code` of `user` in `session`. Returns the stored secret with what the code proves, and the attempt, which
    /// the caller ends.
    ///
    /// # Errors
    /// `OTP_INVALID_MESSAGE` when it is wrong, and as [`Attempt::begin`].
    async fn verify_code<'a>(
        &'a self,
        user: UserId,
        session: SessionId,
        code: &SubmittedCode,
        client: &'a Client,
        now: Instant,
    ) -> Result<((StoredOtp, Proof), Attempt<'a>), ApiError> {
        let counters = code.counters(user, &session.to_string(), client);
        let (attempt, stored) = tokio::join!(
            Attempt::begin(&self.store, &counters, user, client, now),
            self.store.otp(user)
        );
        let verified =
            stored.map_err(Failed::from).and_then(|stored| code.verify(self, user, stored, now));
        attempt?.verified(verified).await
    }
}

/// Reads a code. A text that is too long or malformed becomes the empty text, which is a wrong code.
fn code(value: Value) -> Result<String, InvalidValue> {
    match text::<TypedCode>(value) {
        Ok(code) => Ok(code.as_str().to_owned()),
        Err(invalid) if invalid.code == ErrorCode::FieldType => Err(invalid),
        Err(_) => Ok(String::new()),
    }
}

/// New recovery codes, and their HMACs under `secret` for the store.
fn new_recovery(secret: &Secret) -> (Vec<String>, std::collections::BTreeMap<String, bool>) {
    let codes = totp::recovery_codes();
    let macs = codes.iter().map(|code| (secret.recovery_mac(code), true)).collect();
    (codes.into(), macs)
}

/// The error for a failed condition when a verified code changes the account.
fn condition_error(part: Part) -> ApiError {
    match part {
        // The account was deleted, or the session has ended.
        Part::User | Part::Session => ApiError::invalid_token(),
        _ => invalid(),
    }
}

/// The code is wrong, expired or already used.
fn invalid() -> ApiError {
    ErrorCode::OtpInvalid.into()
}
