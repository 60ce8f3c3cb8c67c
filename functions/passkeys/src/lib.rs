//! The Lambda function `passkeys`: registering passkeys and signing in with them.

mod list;
mod register;
mod remove;
mod rename;
mod settings;
mod sign_in;

use accounts::Sessions;
use axum::extract::FromRequestParts;
use common::{ApiError, ErrorCode, InvalidValue, Now, Routes, SignedIn};
use domain::{
    PasskeyId, ValueError,
    passkey::{Passkey, PasskeyView},
    user::User,
};
use http::request::Parts;
use identity::{outbox::OutboxSealer, passkeys::RelyingParty};
use runtime::{ConfigError, Key};
use serde::Serialize;
use serde_json::Value;
use store::{Setup, Store};

/// The keys that this function reads: to sign and verify tokens, and to seal secrets and notifications.
pub const KEYS: &[Key] = &[Key::TokenSigning, Key::TokenPublic, Key::Sealing, Key::Outbox];

/// The state of the handlers.
#[derive(Clone)]
pub(crate) struct Passkeys {
    store: Store,
    sessions: Sessions,
    outbox: OutboxSealer,
    party: RelyingParty,
}

/// The routes of this function: everything under `/passkeys` and `/auth/passkey`.
///
/// # Errors
/// As [`Sessions::new`], and when the settings of the relying party are invalid.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let passkeys = Passkeys {
        store: setup.store.clone(),
        sessions: Sessions::new(setup)?,
        outbox: setup.keys.parse(Key::Outbox)?,
        party: settings::relying_party(&setup.settings)?,
    };
    Ok(Routes::default()
        .get("/passkeys", list::list)
        .post("/passkeys", register::register)
        .post("/passkeys/registration-options", register::options)
        .put("/passkeys/{passkeyId}", rename::rename)
        .delete("/passkeys/{passkeyId}", remove::remove)
        .post("/auth/passkey/options", sign_in::options)
        .post("/auth/passkey", sign_in::sign_in)
        .sign_in()
        .no_store("/passkeys")
        .no_store("/auth/passkey")
        .with_state(passkeys))
}

/// The passkey that a request is about.
#[derive(Serialize)]
pub(crate) struct PasskeyResponse {
    passkey: PasskeyView,
}

impl From<Passkey> for PasskeyResponse {
    fn from(passkey: Passkey) -> Self {
        Self { passkey: passkey.into() }
    }
}

/// A person who authenticated in the last ten minutes; otherwise `REAUTHENTICATION_REQUIRED_MESSAGE`.
pub(crate) struct Recent(SignedIn);

impl<S: Send + Sync> FromRequestParts<S> for Recent {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Ok(Now(now)) = Now::from_request_parts(parts, state).await;
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        person.require_recent(now)?;
        Ok(Self(person))
    }
}

impl Passkeys {
    /// The passkey `id` of `user`.
    ///
    /// # Errors
    /// `PASSKEY_NOT_FOUND_MESSAGE` also for those of other accounts.
    async fn passkey_of(&self, user: &User, id: PasskeyId) -> Result<Passkey, ApiError> {
        let found =
            self.store.passkey(user.user_id, id).await?.filter(|passkey| passkey.is_of(user));
        Ok(found.ok_or(ErrorCode::PasskeyNotFound)?)
    }
}

/// Reads the answer of a browser to a challenge, which is verified later.
fn credential(value: Value) -> Result<Value, InvalidValue> {
    if value.is_object() { Ok(value) } else { Err(ValueError::Type.into()) }
}
