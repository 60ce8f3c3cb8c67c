//! `GET /media/{key}`: returns an avatar. The key changes with the picture, so clients may cache it forever; the
//! default avatar can change with a release.

use axum::extract::State;
use bytes::Bytes;
use common::{ApiError, ErrorCode, Image, Path};
use domain::user::{DEFAULT_AVATAR, MEDIA, avatar_key};

use crate::Files;

/// The avatar of accounts that have not uploaded one.
const DEFAULT: &[u8] = include_bytes!("default.png");

pub(crate) async fn show(
    State(files): State<Files>,
    Path(key): Path<String>,
) -> Result<Image, ApiError> {
    let path = format!("{MEDIA}{key}");
    if path == DEFAULT_AVATAR {
        return Ok(Image {
            cache_control: "public, max-age=86400",
            content_type: "image/png",
            bytes: Bytes::from_static(DEFAULT),
        });
    }
    let content_type = content_type(&key).ok_or(ErrorCode::NotFound)?;
    let bytes = files.bucket.get(avatar_key(&path)).await?.ok_or(ErrorCode::NotFound)?;
    Ok(Image { cache_control: storage::KEPT, content_type, bytes })
}

/// `None` unless `key` has 40 hexadecimal digits and an extension of avatars, so that no other object is requested.
fn content_type(key: &str) -> Option<&'static str> {
    let (name, extension) = key.split_once('.')?;
    let is_name = name.len() == 40
        && name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    match extension {
        "png" if is_name => Some("image/png"),
        "jpg" if is_name => Some("image/jpeg"),
        _ => None,
    }
}
