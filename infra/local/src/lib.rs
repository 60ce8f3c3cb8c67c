//! The embedded cloud: everything that the service needs of AWS, in one process on a laptop. The
//! functions reach it through the real SDK, by endpoint alone; nothing in them knows.

pub mod chance;
pub mod cloud;
pub mod delivery;
pub mod faults;
pub mod front;
mod gate;
pub mod home;
pub mod pages;
pub mod recorder;
pub mod seed;
mod tables;
pub mod uapi;
pub mod watch;

use std::fmt;

use axum::Router;
use common::{BadSetting, Edge, Setup};

/// All functions behind one edge.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub fn house(setup: &Setup) -> Result<Edge, BadSetting> {
    let router = Router::new()
        .merge(auth::routes(setup)?)
        .merge(committees::routes(setup)?)
        .merge(courses::routes(setup)?)
        .merge(cpanel::routes(setup)?)
        .merge(fallback::routes(setup)?)
        .merge(files::routes(setup)?)
        .merge(otp::routes(setup)?)
        .merge(sms::routes(setup)?)
        .merge(team::routes(setup)?)
        .merge(users::routes(setup)?);
    Edge::new(setup, router)
}

/// Why the local cloud cannot run, in one sentence for the person in front of it.
pub struct Trouble(String);

impl Trouble {
    /// The trouble that `sentence` tells.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The same sentence: it is what a `main` that returns this prints.
impl fmt::Debug for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::error::Error for Trouble {}

impl From<BadSetting> for Trouble {
    fn from(problem: BadSetting) -> Self {
        Self(problem.to_string())
    }
}

impl From<store::Fault> for Trouble {
    fn from(fault: store::Fault) -> Self {
        Self(format!("The embedded store does not answer: {fault}."))
    }
}
