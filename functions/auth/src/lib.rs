//! Signing in and out, and what a person sees of himself.

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

/// The keys of this function.
pub const KEYS: &[Key] = &[
    Key::TokenSigning,
    Key::TokenPublic,
    Key::Sealing,
    Key::Outbox,
];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Auth {
    store: Store,
    sessions: Sessions,
    codes: Codes,
    hasher: Hasher,
    /// Whether a code that came by mail verifies the account; otherwise an administrator alone does.
    mailbox_verifies: bool,
}

/// Every URL of this function.
///
/// # Errors
/// When a key is missing or malformed.
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
    .no_store(&["/auth"]))
}
