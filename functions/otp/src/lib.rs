//! One-time passwords: trying a secret out, the step of a sign-in, recovery codes, and turning it off.

mod disable;
mod generate;
mod recovery_codes;
mod verify;

use accounts::{Sessions, attempts};
use axum::{
    Router,
    routing::{delete, post},
};
use common::{ApiError, ErrorCode, Fields, InvalidValue, Routes, effect, sign_in, text};
use domain::{
    Instant, Line, UserId,
    otp::{Otp as Kept, Proof},
};
use identity::{
    outbox::OutboxSealer,
    password::Hasher,
    sealing::Sealer,
    totp::{self, Secret},
};
use runtime::{ConfigError, Key};
use serde_json::Value;
use store::{Counter, Part, Setup, Store};

/// The keys of this function.
pub const KEYS: &[Key] = &[
    Key::TokenSigning,
    Key::TokenPublic,
    Key::Sealing,
    Key::Outbox,
];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Otp {
    store: Store,
    sessions: Sessions,
    sealer: Sealer,
    outbox: OutboxSealer,
    hasher: Hasher,
}

/// Every URL of this function.
///
/// # Errors
/// When a key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let otp = Otp {
        store: setup.store.clone(),
        sessions: Sessions::new(setup)?,
        sealer: setup.keys.parse(Key::Sealing)?,
        outbox: setup.keys.parse(Key::Outbox)?,
        hasher: Hasher::default(),
    };
    Ok(Routes::new(
        Router::new()
            .route("/otp", delete(disable::disable))
            .route("/otp/generate", effect(generate::generate, "GET"))
            .route("/otp/verify", sign_in(post(verify::verify)))
            .route("/otp/recovery-codes", post(recovery_codes::renew))
            .with_state(otp),
    )
    .no_store(&["/otp"]))
}

/// What a person answers with.
pub(crate) enum SubmittedCode {
    /// A code of his authenticator.
    Code(String),
    /// A recovery code.
    Recovery(String),
}

impl SubmittedCode {
    /// `code`, or `recoveryCode` where that stands alone.
    fn read(fields: &mut Fields) -> Option<Self> {
        if fields.has("recoveryCode") && !fields.has("code") {
            return fields.required("recoveryCode", code).map(Self::Recovery);
        }
        fields.required("code", code).map(Self::Code)
    }

    /// What counts its failures at the step `challenge` of `user`.
    fn counters(&self, user: UserId, challenge: &str) -> [Counter; 2] {
        match self {
            Self::Code(_) => attempts::of_otp(user, challenge),
            Self::Recovery(_) => attempts::of_recovery(user, challenge),
        }
    }

    /// What it proves against `kept`, the secret of `user`, at `now`.
    fn proof(
        &self,
        otp: &Otp,
        user: UserId,
        kept: Option<&Kept>,
        now: Instant,
    ) -> Result<Option<Proof>, ApiError> {
        let Some(kept) = kept else { return Ok(None) };
        let secret = Secret::open(&kept.sealed, &otp.sealer, &totp::place_in_force(user))?;
        Ok(match self {
            Self::Code(code) => secret.step_of(code, now, kept.last_step).map(Proof::Step),
            Self::Recovery(code) => {
                let mac = secret.recovery_mac(code);
                kept.recovery
                    .contains_key(&mac)
                    .then_some(Proof::Recovery(mac))
            }
        })
    }
}

/// Reads a code: any text is one, if a wrong one.
fn code(value: Value) -> Result<String, InvalidValue> {
    match text::<Line<128>>(value) {
        Ok(code) => Ok(code.to_string()),
        Err(invalid) if invalid.code == ErrorCode::FieldType => Err(invalid),
        Err(_) => Ok(String::new()),
    }
}

/// New recovery codes, and as what they are kept under `secret`.
fn new_recovery(secret: &Secret) -> (Vec<String>, std::collections::BTreeMap<String, bool>) {
    let codes = totp::recovery_codes();
    let kept = codes
        .iter()
        .map(|code| (secret.recovery_mac(code), true))
        .collect();
    (codes.into(), kept)
}

/// Why a change of the account that a code allows was not made.
fn refused(part: Part) -> ApiError {
    match part {
        // The account is gone, or the session was ended.
        Part::User | Part::Session => ApiError::invalid_token(),
        _ => invalid(),
    }
}

/// The code is not one, or not any more.
fn invalid() -> ApiError {
    ErrorCode::OtpInvalid.into()
}
