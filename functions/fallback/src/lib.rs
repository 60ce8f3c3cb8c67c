//! The Lambda function `fallback`: the health check, and 404 for every path that no other function serves.

use common::{ApiResult, Routes, ok};
use runtime::{ConfigError, Key};
use serde::Serialize;
use store::Setup;

/// The keys that this function reads: to verify tokens, as the edge of every function does.
pub const KEYS: &[Key] = &[Key::TokenPublic];

/// The route of this function, `/health`; the edge answers all others with 404. Never fails.
pub fn routes(_: &Setup) -> Result<Routes, ConfigError> {
    Ok(Routes::default().get("/health", health).unlimited("/health"))
}

#[derive(Serialize)]
struct Health {
    version: &'static str,
}

/// `GET /health`: returns the version. Reads nothing from the store.
async fn health() -> ApiResult<Health> {
    ok(Health { version: env!("CARGO_PKG_VERSION") })
}
