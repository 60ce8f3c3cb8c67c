//! The embedded cloud: everything that the service needs of AWS, in one process on a laptop. The
//! functions reach it through the real SDK, by endpoint alone; nothing in them knows.

pub mod chance;
pub mod cloud;
pub mod delivery;
pub mod faults;
pub mod front;
mod gate;
pub mod guard;
pub mod home;
pub mod pages;
mod parameters;
pub mod recorder;
mod reference;
pub mod runtime_api;
pub mod seed;
mod tables;
pub mod uapi;
pub mod watch;

use std::fmt;

use common::{Edge, Routes};
use runtime::ConfigError;
use store::Setup;

/// All functions behind one edge.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub fn house(setup: &Setup) -> Result<Edge, ConfigError> {
    house_of(&|_| Ok(setup.clone()))
}

/// The same where each function is given what `setup_of` its name gives; `edge` is what all have in common.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub fn house_of(
    setup_of: &dyn Fn(&str) -> Result<Setup, ConfigError>,
) -> Result<Edge, ConfigError> {
    let routes = Routes::default()
        .merge(auth::routes(&setup_of("auth")?)?)
        .merge(committees::routes(&setup_of("committees")?)?)
        .merge(courses::routes(&setup_of("courses")?)?)
        .merge(cpanel::routes(&setup_of("cpanel")?)?)
        .merge(fallback::routes(&setup_of("fallback")?)?)
        .merge(files::routes(&setup_of("files")?)?)
        .merge(otp::routes(&setup_of("otp")?)?)
        .merge(sms::routes(&setup_of("sms")?)?)
        .merge(team::routes(&setup_of("team")?)?)
        .merge(users::routes(&setup_of("users")?)?);
    Edge::new(&setup_of("edge")?, routes)
}

/// Why the local cloud cannot run, in one sentence for the person in front of it.
pub struct LocalError(String);

impl LocalError {
    /// The error that `sentence` tells.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for LocalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The same sentence: it is what a `main` that returns this prints.
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
