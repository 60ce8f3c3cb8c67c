//! The Lambda function `auth`: signing in and out, the caller's sessions and account.

mod check;
mod current_user;
mod login;
mod logout;
mod passwordless;
mod sessions;
mod sign_in;

use accounts::{Codes, Registration, Sessions};
use common::Routes;
use identity::password::Hasher;
use runtime::{ConfigError, Key};
use store::{Setup, Store};

/// The keys that this function reads: to sign and verify tokens, and to seal codes, secrets and messages.
pub const KEYS: &[Key] = &[Key::TokenSigning, Key::TokenPublic, Key::Sealing, Key::Outbox];

/// The state of the handlers.
#[derive(Clone)]
pub(crate) struct Auth {
    store: Store,
    sessions: Sessions,
    codes: Codes,
    hasher: Hasher,
    /// As [`Registration::mailbox_verifies`].
    mailbox_verifies: bool,
}

/// The routes below `/auth`, except those of `passkeys`.
///
/// # Errors
/// As [`Sessions::new`], [`Codes::new`] and [`Registration::of`].
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let auth = Auth {
        store: setup.store.clone(),
        sessions: Sessions::new(setup)?,
        codes: Codes::new(setup)?,
        hasher: Hasher::default(),
        mailbox_verifies: Registration::of(&setup.settings)?.mailbox_verifies(),
    };
    Ok(Routes::default()
        .post("/auth/login", login::login)
        .sign_in()
        .effect("/auth/passwordless", passwordless::sign_in_with_code)
        .sign_in()
        .post("/auth/passwordless", passwordless::request)
        .sign_in()
        .get("/auth/check", check::check)
        .get("/auth/current-user", current_user::current_user)
        .post("/auth/logout", logout::logout)
        .get("/auth/sessions", sessions::list)
        .delete("/auth/sessions/{sid}", sessions::end)
        .no_store("/auth")
        .with_state(auth))
}
