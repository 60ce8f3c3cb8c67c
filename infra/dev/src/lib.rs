//! `cargo dev`: serves the routes of all functions on a laptop, with the local pages, on the embedded cloud.

mod console;
pub mod delivery;
pub mod endpoints;
pub mod event_file;
pub mod front;
pub mod home;
pub mod pages;
pub mod reference;
mod requests;
pub mod seed;
pub mod watch;

use common::{Edge, Routes};
use runtime::ConfigError;
use store::Setup;

/// The OpenAPI document.
const OPENAPI: &str = include_str!("../../api/openapi.yaml");

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
