//! What no other function serves: the enveloped 404, and the health check.

use axum::{Router, routing::get};
use common::{ApiResult, Routes, ok};
use runtime::{ConfigError, Key};
use serde::Serialize;
use store::Setup;

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic];

/// Every URL of this function; all others are the edge's 404.
///
/// # Errors
/// None.
pub fn routes(_: &Setup) -> Result<Routes, ConfigError> {
    Ok(Routes::new(Router::new().route("/health", get(health))).free("/health"))
}

#[derive(Serialize)]
struct Health {
    version: &'static str,
}

/// `GET /health`: this process answers. Touches no store.
async fn health() -> ApiResult<Health> {
    ok(Health {
        version: env!("CARGO_PKG_VERSION"),
    })
}
