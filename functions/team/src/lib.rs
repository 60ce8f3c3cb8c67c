//! Administrators change the accounts of the people whom they answer for.

mod change;
mod otp;

use accounts::Codes;
use axum::{
    Router,
    routing::{delete, put},
};
use common::Routes;
use runtime::{ConfigError, Key};
use store::{Setup, Store};

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Sealing, Key::Outbox];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Team {
    store: Store,
    codes: Codes,
}

/// Every URL of this function.
///
/// # Errors
/// When a key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let team = Team {
        store: setup.store.clone(),
        codes: Codes::new(setup)?,
    };
    Ok(Routes::new(
        Router::new()
            .route("/team/{userId}", put(change::change))
            .route("/team/{userId}/otp", delete(otp::reset))
            .with_state(team),
    )
    .no_store(&["/team"]))
}
