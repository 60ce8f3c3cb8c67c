//! The Lambda function `team`: administrators change the accounts of others.

mod change;
mod otp;

use accounts::Codes;
use common::Routes;
use runtime::{ConfigError, Key};
use store::{Setup, Store};

/// The keys that this function reads: to verify tokens, and to seal codes and messages.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Sealing, Key::Outbox];

/// The state of the handlers.
#[derive(Clone)]
pub(crate) struct Team {
    store: Store,
    codes: Codes,
}

/// The routes of this function: everything under `/team`.
///
/// # Errors
/// As [`Codes::new`].
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let team = Team { store: setup.store.clone(), codes: Codes::new(setup)? };
    Ok(Routes::default()
        .put("/team/{userId}", change::change)
        .delete("/team/{userId}/otp", otp::reset)
        .no_store("/team")
        .with_state(team))
}
