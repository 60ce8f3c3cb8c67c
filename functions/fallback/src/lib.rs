//! The Lambda function `fallback`: the health check, and 404 for every path that no other function serves.

use std::sync::Arc;

use axum::extract::State;
use common::{ApiResult, Routes, ok};
use runtime::{ConfigError, Key};
use serde::Serialize;
use store::Setup;

/// The keys that this function reads: to verify tokens, as the edge of every function does.
pub const KEYS: &[Key] = &[Key::TokenPublic];

/// The route of this function, `/health`; the edge answers all others with 404. Never fails.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let commit = setup.settings.optional("COMMIT").map(Arc::from);
    Ok(Routes::default().get("/health", health).unlimited("/health").with_state(commit))
}

#[derive(Serialize)]
struct Health {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<Arc<str>>,
}

/// `GET /health`: returns the version, and the setting `COMMIT` if there is one. Reads nothing from the store.
async fn health(State(commit): State<Option<Arc<str>>>) -> ApiResult<Health> {
    ok(Health { version: env!("CARGO_PKG_VERSION"), commit })
}
