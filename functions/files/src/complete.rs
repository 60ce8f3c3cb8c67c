//! `POST /files/{fileId}/complete`: moves the uploaded file to where no form can change it.

use axum::extract::State;
use common::{ActiveMember, ApiResult, ErrorCode, Message, Path, success};
use domain::{FileId, file::Status};

use crate::{FileResponse, Files};

/// Moves the upload, unless the file is ready already. The object is moved before the file is ready, so that a ready
/// file always has one. If the owner deletes the file meanwhile, the worker deletes the moved object.
pub(crate) async fn complete(
    State(files): State<Files>,
    uploader: ActiveMember,
    Path(id): Path<FileId>,
) -> ApiResult<FileResponse> {
    let owner = uploader.0.user.user_id;
    let file = files.own_file(id, owner).await?;
    if file.status == Status::Ready {
        return success(Message::FileReady, FileResponse { file: file.listed() });
    }
    let moved = files.bucket.move_upload(id, file.size).await;
    if !matches!(moved, Ok(true)) {
        // The owner may have deleted the file meanwhile, and with it the upload.
        files.own_file(id, owner).await?;
        moved?;
        return Err(ErrorCode::FileNotUploaded.into());
    }
    let file = match files.store.complete_file(id).await? {
        Some(file) => file,
        // Changed meanwhile: completed by another call or the sweep, or deleted by the owner.
        None => files.own_file(id, owner).await?,
    };
    success(Message::FileReady, FileResponse { file: file.listed() })
}
