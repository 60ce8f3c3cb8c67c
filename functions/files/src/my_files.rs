//! `GET /files/my-files`: lists the caller's files, newest first, with the used quota.

use axum::extract::State;
use common::{ApiResult, Listed, Paging, SignedIn, ok};
use domain::file::{File, FileView};
use serde::Serialize;

use crate::Files;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilesResponse {
    #[serde(flatten)]
    files: Listed<FileView>,
    usage: Usage,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    files: u64,
    bytes: u64,
    quota_bytes: u64,
}

pub(crate) async fn list(
    State(files): State<Files>,
    person: SignedIn,
    paging: Paging,
) -> ApiResult<FilesResponse> {
    let owner = person.user.user_id;
    let list = paging.open(&files.cursors, ())?;
    let (page, usage) = tokio::join!(
        files.store.files(owner, list.position(), list.limit),
        files.store.usage(owner)
    );
    let (page, usage) = (page?, usage?);
    let usage = Usage { files: usage.files, bytes: usage.bytes, quota_bytes: files.quota_bytes };
    ok(FilesResponse { files: list.listed("files", page.map(File::listed))?, usage })
}
