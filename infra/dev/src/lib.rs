//! `cargo dev`: serves the routes of all functions on a laptop, with the local pages, on the embedded cloud.

mod console;
pub mod delivery;
mod examples;
pub mod front;
pub mod home;
mod mails;
pub mod operations;
pub mod pages;
mod reference;
mod requests;
mod schemas;
pub mod seed;
pub mod update;

use common::{Edge, Route, Routes};
use runtime::ConfigError;
use store::Setup;

/// Returns the routes of a function.
type RoutesOf = fn(&Setup) -> Result<Routes, ConfigError>;

/// The row of a function in [`FUNCTIONS`].
macro_rules! function {
    ($name:ident) => {
        (
            stringify!($name),
            $name::routes,
            include_str!(concat!("../../../functions/", stringify!($name), "/openapi.yaml")),
        )
    };
}

/// The functions that have routes: name, routes, and part of the OpenAPI document.
const FUNCTIONS: [(&str, RoutesOf, &str); 13] = [
    function!(auth),
    function!(otp),
    function!(passkeys),
    function!(users),
    function!(team),
    function!(committees),
    function!(courses),
    function!(registrations),
    function!(certificates),
    function!(files),
    function!(sms),
    function!(cpanel),
    function!(fallback),
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
    for (function, routes, _) in FUNCTIONS {
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
    for (function, routes, _) in FUNCTIONS {
        all.extend(routes(setup)?.list().map(|route| (function, route)));
    }
    Ok(all)
}
