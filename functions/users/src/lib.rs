//! Accounts: opening one, looking at one, changing its password.

mod change_password;
mod register;
mod show;

use axum::{
    Router,
    routing::{get, post, put},
};
use common::{BadSetting, Key, Settings, Setup};
use domain::{Flaw, password::Owner, user::User};
use identity::{known_passwords, password::Hasher};
use secrecy::{ExposeSecret, SecretString};
use store::Store;

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Users {
    store: Store,
    hasher: Hasher,
    settings: Settings,
}

/// Every URL of this function.
///
/// # Errors
/// When a key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Router, BadSetting> {
    let users = Users { store: setup.store.clone(), hasher: Hasher::default(), settings: setup.settings.clone() };
    Ok(Router::new()
        .route("/users/register", post(register::register))
        .route("/users/reset-password", put(change_password::change_password))
        .route("/users/{userId}", get(show::show))
        .with_state(users))
}

impl Users {
    /// Checks a new password against the rules and against what everybody knows.
    fn check_password(&self, password: &SecretString, min_length: usize, owner: Option<Owner<'_>>) -> Result<(), Flaw> {
        domain::password::check(password.expose_secret(), min_length, owner)?;
        if known_passwords::contains(password.expose_secret()) { Err(Flaw::PasswordCommon) } else { Ok(()) }
    }

    /// Those who run something have longer passwords, unless a second factor stands beside them.
    fn min_length(&self, user: &User) -> usize {
        let needs_more = user.profile.is_admin() && !user.is_otp_enabled;
        if needs_more { self.settings.password_min_length_admin } else { self.settings.password_min_length }
    }
}

/// Whether two passwords are the same, however an accent was typed.
fn are_equal(one: &SecretString, other: &SecretString) -> bool {
    domain::password::normalized(one.expose_secret()) == domain::password::normalized(other.expose_secret())
}
