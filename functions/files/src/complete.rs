//! `POST /files/{fileId}/complete`: confirms that the file was uploaded.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Message, Path, success};
use domain::{FileId, file::Status};
use storage::key_of;

use crate::{FileResponse, Files, Uploader};

/// Compares the size of the object in the bucket, unless the file is ready already.
pub(crate) async fn complete(
    State(files): State<Files>,
    uploader: Uploader,
    Path(id): Path<FileId>,
) -> ApiResult<FileResponse> {
    let owner = uploader.0.user.user_id;
    let file = files.own_file(id, owner).await?;
    if file.status == Status::Ready {
        return success(
            Message::FileReady,
            FileResponse {
                file: file.listed(),
            },
        );
    }
    if files.objects.size(&key_of(id)).await? != Some(file.size) {
        return Err(ErrorCode::FileNotUploaded.into());
    }
    let file = match files.store.complete_file(id).await? {
        Some(file) => file,
        // Changed meanwhile: completed by another call or the sweeper, or deleted by the owner.
        None => files.own_file(id, owner).await?,
    };
    success(
        Message::FileReady,
        FileResponse {
            file: file.listed(),
        },
    )
}
