//! `GET /files/{fileId}`: returns one of the caller's files, with a download link when it is ready.

use std::time::Duration;

use axum::extract::State;
use common::{ApiResult, Now, Path, SignedIn, ok};
use domain::{FileId, file::Status};

use crate::{FileResponse, Files};

const LINK_LIFE: Duration = Duration::from_secs(5 * 60);

pub(crate) async fn show(
    State(files): State<Files>,
    Now(now): Now,
    person: SignedIn,
    Path(id): Path<FileId>,
) -> ApiResult<FileResponse> {
    let file = files.own_file(id, person.user.user_id).await?;
    let url = match file.status {
        Status::Ready => Some(files.link(&file, LINK_LIFE, now).await?),
        Status::Pending | Status::Deleted => None,
    };
    ok(FileResponse { file: file.view(url) })
}
