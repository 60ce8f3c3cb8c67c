//! `DELETE /files/{fileId}`: deletes one of the caller's files.

use axum::extract::State;
use common::{ApiError, ApiResult, Empty, Message, Now, Path, success};
use domain::FileId;

use crate::{Files, Uploader};

/// The transaction hides the file and frees its quota; the worker deletes the object later.
pub(crate) async fn remove(
    State(files): State<Files>,
    Now(now): Now,
    uploader: Uploader,
    Path(id): Path<FileId>,
) -> ApiResult<Empty> {
    let discard = || async {
        let file = files.own_file(id, uploader.0.user.user_id).await?;
        let mut tx = files.store.transaction();
        tx.discard_file(&file, now);
        Ok::<_, ApiError>((tx, ()))
    };
    files.store.update(discard, |_| None).await?;
    success(Message::FileDeleted, Empty {})
}
