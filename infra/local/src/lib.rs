//! The local cloud: all AWS services that the functions need, in one process. The functions use the real SDK with
//! another endpoint and contain no code for it.

pub mod cloud;
mod console;
pub mod delivery;
pub mod endpoints;
pub mod event_file;
pub mod faults;
pub mod front;
mod gate;
pub mod guard;
pub mod home;
mod host;
pub mod pages;
mod parameters;
pub mod random;
pub mod recorder;
pub mod reference;
mod requests;
pub mod runtime_api;
pub mod seed;
mod signature;
pub mod strict;
mod tables;
pub mod uapi;
pub mod watch;

use std::fmt;

use common::{Edge, Routes};
use runtime::ConfigError;
use store::Setup;

/// The message of error responses that no service made: of injected faults and of the checks of access.
const REFUSED: &str = "refused by the local cloud";

/// The edge with the routes of all functions.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub fn edge(setup: &Setup) -> Result<Edge, ConfigError> {
    edge_of(&|_| Ok(setup.clone()))
}

/// As [`edge`], with a setup of its own for each function: `setup_of` is called with its name, and with `edge`.
///
/// # Errors
/// As [`edge`], and when `setup_of` fails.
pub fn edge_of(setup_of: &dyn Fn(&str) -> Result<Setup, ConfigError>) -> Result<Edge, ConfigError> {
    let routes = Routes::default()
        .merge(auth::routes(&setup_of("auth")?)?)
        .merge(committees::routes(&setup_of("committees")?)?)
        .merge(courses::routes(&setup_of("courses")?)?)
        .merge(cpanel::routes(&setup_of("cpanel")?)?)
        .merge(fallback::routes(&setup_of("fallback")?)?)
        .merge(files::routes(&setup_of("files")?)?)
        .merge(otp::routes(&setup_of("otp")?)?)
        .merge(passkeys::routes(&setup_of("passkeys")?)?)
        .merge(sms::routes(&setup_of("sms")?)?)
        .merge(team::routes(&setup_of("team")?)?)
        .merge(users::routes(&setup_of("users")?)?);
    Edge::new(&setup_of("edge")?, routes)
}

/// An error of the local cloud, in one sentence for the developer.
pub struct LocalError(String);

impl LocalError {
    /// An error with the text `sentence`.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for LocalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The same text, because a `main` that returns this error prints `Debug`.
impl fmt::Debug for LocalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::error::Error for LocalError {}

impl From<ConfigError> for LocalError {
    fn from(problem: ConfigError) -> Self {
        Self(problem.to_string())
    }
}

impl From<store::StoreError> for LocalError {
    fn from(fault: store::StoreError) -> Self {
        Self(format!("The embedded store does not answer: {fault}."))
    }
}
