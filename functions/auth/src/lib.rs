//! Signing in and out, and what a person sees of himself.

mod check;
mod current_user;
mod login;
mod logout;
mod passwordless;
mod sessions;
mod sign_in;

use axum::{
    Router,
    routing::{delete, get, post},
};
use common::{BadSetting, Codes, Key, Registration, Sessions, Setup, effect};
use identity::password::Hasher;
use store::Store;

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
pub fn routes(setup: &Setup) -> Result<Router, BadSetting> {
    let auth = Auth {
        store: setup.store.clone(),
        sessions: Sessions::new(setup)?,
        codes: Codes::new(setup)?,
        hasher: Hasher::default(),
        mailbox_verifies: setup.settings.registration != Registration::Approval,
    };
    Ok(Router::new()
        .route("/auth/login", post(login::login))
        .route(
            "/auth/passwordless",
            effect(passwordless::sign_in_with_code, "GET,POST").post(passwordless::request),
        )
        .route("/auth/check", get(check::check))
        .route("/auth/current-user", get(current_user::current_user))
        .route("/auth/logout", post(logout::logout))
        .route("/auth/sessions", get(sessions::list))
        .route("/auth/sessions/{sid}", delete(sessions::end))
        .with_state(auth))
}
