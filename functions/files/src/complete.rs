//! `POST /files/{fileId}/complete`: the owner says that the file was sent.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Message, Path, success};
use domain::{FileId, file::Status};
use storage::key_of;

use crate::{FileResponse, Files, Keeper};

/// The bucket is asked once; a file that is there is not asked about again.
pub(crate) async fn complete(
    State(files): State<Files>,
    keeper: Keeper,
    Path(id): Path<FileId>,
) -> ApiResult<FileResponse> {
    let owner = keeper.0.user.user_id;
    let file = files.own(id, owner).await?;
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
    let file = match files.store.receive_file(id).await? {
        Some(file) => file,
        // Somebody was faster: another call, the sweeper, or the owner who does not want it any more.
        None => files.own(id, owner).await?,
    };
    success(
        Message::FileReady,
        FileResponse {
            file: file.listed(),
        },
    )
}
