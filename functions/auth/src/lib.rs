//! The Lambda function `auth`: signing in and out, the caller's sessions and account.

mod check;
mod current_user;
mod login;
mod logout;
mod passwordless;
mod sessions;
mod sign_in;

use accounts::{Codes, Registration, Sessions};
use axum::{
    Router,
    routing::{delete, get, post},
};
use common::{Routes, effect, sign_in};
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
    Ok(Routes::new(
        Router::new()
            .route("/auth/login", sign_in(post(login::login)))
            .route(
                "/auth/passwordless",
                sign_in(
                    effect(passwordless::sign_in_with_code, "GET,POST").post(passwordless::request),
                ),
            )
            .route("/auth/check", get(check::check))
            .route("/auth/current-user", get(current_user::current_user))
            .route("/auth/logout", post(logout::logout))
            .route("/auth/sessions", get(sessions::list))
            .route("/auth/sessions/{sid}", delete(sessions::end))
            .with_state(auth),
    )
    .no_store(&["/auth"])
    .early("/auth/login"))
}
