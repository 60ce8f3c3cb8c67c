//! `DELETE /files/{fileId}`: the owner does not want a file any more.

use axum::extract::State;
use common::{ApiError, ApiResult, Empty, Message, Now, Path, success};
use domain::FileId;

use crate::{Files, Keeper};

/// Nobody sees it any more and its room is free with the answer; the dispatcher removes it from the bucket.
pub(crate) async fn remove(
    State(files): State<Files>,
    Now(now): Now,
    keeper: Keeper,
    Path(id): Path<FileId>,
) -> ApiResult<Empty> {
    let give_up = || async {
        let file = files.own(id, keeper.0.user.user_id).await?;
        let mut give_up = files.store.transaction();
        give_up.give_up_file(&file, now);
        Ok::<_, ApiError>((give_up, ()))
    };
    files.store.update(give_up, |_| None).await?;
    success(Message::FileDeleted, Empty {})
}
