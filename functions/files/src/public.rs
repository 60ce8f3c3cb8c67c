//! `GET /files/public/{fileId}`: a file that everybody may have.

use std::time::Duration;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use common::{ApiError, ApiResponse, ErrorCode, Now, Path, Redirect, ok};
use domain::{FileId, file::File};
use http::{HeaderMap, HeaderValue, header};

use crate::{FileResponse, Files};

/// How long the link is good: to follow it, not to pass it on.
const LINK_LIFE: Duration = Duration::from_secs(60);

pub(crate) enum Found {
    /// The way to it.
    Link(Redirect),
    /// What is known of it, for who asked for JSON.
    File(ApiResponse<FileResponse>),
}

impl IntoResponse for Found {
    fn into_response(self) -> Response {
        let mut response = match self {
            Self::Link(link) => link.into_response(),
            Self::File(file) => file.into_response(),
        };
        response
            .headers_mut()
            .insert(header::VARY, HeaderValue::from_static("Accept"));
        response
    }
}

/// A private file, one that has not come and one that never was are told alike.
pub(crate) async fn show(
    State(files): State<Files>,
    Now(now): Now,
    Path(id): Path<FileId>,
    headers: HeaderMap,
) -> Result<Found, ApiError> {
    let file = files
        .store
        .file(id)
        .await?
        .filter(File::is_public)
        .ok_or(ErrorCode::FileNotFound)?;
    let url = files.link(&file, LINK_LIFE, now).await?;
    if asks_for_json(&headers) {
        return Ok(Found::File(ok(FileResponse {
            file: file.shown(Some(url)),
        })?));
    }
    Ok(Found::Link(Redirect { url }))
}

/// Whether `Accept` names JSON, and not as what is not wanted; `*/*` does not.
fn asks_for_json(headers: &HeaderMap) -> bool {
    let values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        parts
            .next()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
            && !parts.any(is_not_wanted)
    })
}

/// A weight of zero (RFC 9110 §12.4.2): `q=0`, `q=0.0`.
fn is_not_wanted(part: &str) -> bool {
    part.strip_prefix("q=")
        .is_some_and(|weight| weight.parse() == Ok(0.0))
}
