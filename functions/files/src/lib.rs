//! Pictures that everybody sees.

mod media;

use axum::{Router, routing::get};
use common::{BadSetting, Key, Setup};
use objects::Objects;

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Files {
    objects: Objects,
}

/// Every URL of this function.
///
/// # Errors
/// When a setting is missing.
pub fn routes(setup: &Setup) -> Result<Router, BadSetting> {
    let files = Files { objects: Objects::new(setup.aws.clone(), setup.settings.files_bucket.as_deref())? };
    Ok(Router::new().route("/media/{key}", get(media::show)).with_state(files))
}
