//! `cargo dev`: serves the routes of all functions on a laptop, with the local pages, on the embedded cloud.

mod console;
pub mod delivery;
pub mod front;
pub mod home;
pub mod operations;
pub mod pages;
mod reference;
mod requests;
pub mod seed;
pub mod update;

use common::{Edge, Route, Routes};
use runtime::ConfigError;
use store::Setup;

/// The OpenAPI document.
const OPENAPI: &str = include_str!("../../api/openapi.yaml");

/// Returns the routes of a function.
type RoutesOf = fn(&Setup) -> Result<Routes, ConfigError>;

/// The functions that have routes, with their names.
const FUNCTIONS: [(&str, RoutesOf); 12] = [
    ("auth", auth::routes),
    ("otp", otp::routes),
    ("passkeys", passkeys::routes),
    ("users", users::routes),
    ("team", team::routes),
    ("committees", committees::routes),
    ("courses", courses::routes),
    ("registrations", registrations::routes),
    ("files", files::routes),
    ("sms", sms::routes),
    ("cpanel", cpanel::routes),
    ("fallback", fallback::routes),
];

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
    let mut all = Routes::default();
    for (function, routes) in FUNCTIONS {
        all = all.merge(routes(&setup_of(function)?)?);
    }
    Edge::new(&setup_of("edge")?, all)
}

/// The routes of all functions, each with the name of its function.
///
/// # Errors
/// When a setting or a key in `setup` is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Vec<(&'static str, Route)>, ConfigError> {
    let mut all = Vec::new();
    for (function, routes) in FUNCTIONS {
        all.extend(routes(setup)?.list().map(|route| (function, route)));
    }
    Ok(all)
}
