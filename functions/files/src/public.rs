//! `GET /files/public/{fileId}`: redirects to the download of a public file, or describes it as JSON.

use std::time::Duration;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use common::{ApiError, ApiResponse, ErrorCode, Now, Path, Redirect, ok};
use domain::{FileId, file::File};
use http::{HeaderMap, HeaderValue, header};

use crate::{FileResponse, Files};

/// How long the link is valid: long enough to follow the redirect, too short to share it.
const LINK_LIFE: Duration = Duration::from_secs(60);

pub(crate) enum PublicFile {
    /// A redirect to the download.
    Link(Redirect),
    /// The description, for clients that ask for JSON.
    File(ApiResponse<FileResponse>),
}

impl IntoResponse for PublicFile {
    fn into_response(self) -> Response {
        let mut response = match self {
            Self::Link(link) => link.into_response(),
            Self::File(file) => file.into_response(),
        };
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
        response
    }
}

/// Private, pending and unknown files get the same response, and those of a suspended owner or a closed committee.
pub(crate) async fn show(
    State(files): State<Files>,
    Now(now): Now,
    Path(id): Path<FileId>,
    headers: HeaderMap,
) -> Result<PublicFile, ApiError> {
    let file =
        files.store.file(id).await?.filter(File::is_public).ok_or(ErrorCode::FileNotFound)?;
    files.require_open(&file).await?;
    let url = files.link(&file, LINK_LIFE, now).await?;
    if asks_for_json(&headers) {
        return Ok(PublicFile::File(ok(FileResponse { file: file.view(Some(url)) })?));
    }
    Ok(PublicFile::Link(Redirect { url }))
}

impl Files {
    /// # Errors
    /// `FILE_NOT_FOUND_MESSAGE` when the owner of `file` is not active, or their committee is closed.
    async fn require_open(&self, file: &File) -> Result<(), ApiError> {
        let owner = self.store.user(file.user_id).await?.filter(|owner| owner.is_active);
        let owner = owner.ok_or(ErrorCode::FileNotFound)?;
        let committee = self.store.committee(owner.committee_id).await?;
        if committee.is_some_and(|committee| committee.is_active) {
            Ok(())
        } else {
            Err(ErrorCode::FileNotFound.into())
        }
    }
}

/// Whether `Accept` names JSON with a weight above zero; `*/*` does not count.
fn asks_for_json(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
            && !parts.any(has_zero_weight)
    })
}

/// A weight of zero (RFC 9110 §12.4.2): `q=0`, `q=0.0`.
fn has_zero_weight(part: &str) -> bool {
    part.strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0))
}
