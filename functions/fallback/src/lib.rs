//! What no other function serves: the enveloped 404, the health check, and the avatar of those who
//! have not chosen one.

use axum::{Router, routing::get};
use bytes::Bytes;
use common::{BadSetting, Image, Key, Path, Refusal, Refused, Reply, Setup, shown};
use serde::Serialize;

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic];

/// Every URL of this function; all others are the edge's 404.
///
/// # Errors
/// None.
pub fn routes(_: &Setup) -> Result<Router, BadSetting> {
    Ok(Router::new().route("/health", get(health)).route("/media/{key}", get(media)))
}

#[derive(Serialize)]
struct Health {
    version: &'static str,
}

/// `GET /health`: this process answers. Touches no store.
async fn health() -> Reply<Health> {
    shown(Health { version: env!("CARGO_PKG_VERSION") })
}

/// `GET /media/{key}`: an image.
async fn media(Path(key): Path<String>) -> Result<Image, Refused> {
    match key.as_str() {
        "default.png" => Ok(Image { content_type: "image/png", bytes: Bytes::from_static(include_bytes!("default.png")) }),
        _ => Err(Refusal::NotFound.into()),
    }
}
