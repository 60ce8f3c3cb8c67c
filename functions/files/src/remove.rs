//! `DELETE /files/{fileId}`: the owner does not want a file any more.

use axum::extract::State;
use common::{Message, Nothing, Now, Path, Refusal, Reply, told};
use domain::FileId;

use crate::{Files, Keeper};

/// How often it is tried anew when the file comes at the same time.
const TRIES: u32 = 3;

/// Nobody sees it any more and its room is free with the answer; the dispatcher removes it from the bucket.
pub(crate) async fn remove(
    State(files): State<Files>,
    Now(now): Now,
    keeper: Keeper,
    Path(id): Path<FileId>,
) -> Reply<Nothing> {
    for _ in 0..TRIES {
        let file = files.own(id, keeper.0.user.user_id).await?;
        if files.store.give_up_file(&file, now).await? {
            return told(Message::FileDeleted, Nothing {});
        }
    }
    Err(Refusal::Conflict.into())
}
