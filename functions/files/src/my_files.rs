//! `GET /files/my-files`: lists the caller's files, newest first, with the used quota.

use axum::extract::State;
use common::{ApiResult, Now, Paging, SignedIn, ok};
use domain::file::{File, FileView};
use serde::Serialize;

use crate::Files;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilesResponse {
    files: Vec<FileView>,
    usage: Usage,
    next_cursor: Option<String>,
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
    Now(now): Now,
    person: SignedIn,
    paging: Paging,
) -> ApiResult<FilesResponse> {
    let owner = person.user.user_id;
    let list = format!("GET /files/my-files caller={owner}");
    let list = paging.open(&files.cursors, list, now)?;
    let (page, usage) = tokio::join!(
        files.store.files(owner, list.position(), list.limit),
        files.store.usage(owner)
    );
    let (page, usage) = (page?, usage?);
    let next_cursor = list.next_cursor(page.last)?;
    let usage = Usage { files: usage.files, bytes: usage.bytes, quota_bytes: files.quota_bytes };
    ok(FilesResponse {
        files: page.items.into_iter().map(File::listed).collect(),
        usage,
        next_cursor,
    })
}
