//! `GET /sms/bulk/{batchId}`: returns a batch, the number of its messages in each state, and their common text.

use axum::extract::State;
use common::{ApiError, ApiResult, ErrorCode, Now, Path, SignedIn, Verified, ok};
use domain::{
    BatchId, Instant,
    batch::{Batch, Progress},
    sms::Text,
};
use serde::Serialize;

use crate::{Messages, rights::may_see};

#[derive(Serialize)]
pub(crate) struct BatchResponse {
    batch: BatchDetails,
}

#[derive(Serialize)]
struct BatchDetails {
    #[serde(flatten)]
    batch: Batch,
    #[serde(flatten)]
    progress: Progress,
    message: Option<Text>,
}

pub(crate) async fn show(
    State(messages): State<Messages>,
    Now(now): Now,
    caller: Verified,
    Path(id): Path<BatchId>,
) -> ApiResult<BatchResponse> {
    let batch = messages.batch(id, &caller.0, now).await?;
    let (progress, message) =
        tokio::join!(messages.store.progress(&batch), messages.store.batch_text(id, now));
    ok(BatchResponse { batch: BatchDetails { batch, progress: progress?, message: message? } })
}

impl Messages {
    /// The batch `id`.
    ///
    /// # Errors
    /// `BATCH_NOT_FOUND_MESSAGE` when it does not exist or `caller` may not see it at `now`.
    pub(crate) async fn batch(
        &self,
        id: BatchId,
        caller: &SignedIn,
        now: Instant,
    ) -> Result<Batch, ApiError> {
        Ok(self
            .store
            .batch(id)
            .await?
            .filter(|batch| may_see(caller, &batch.sending, now))
            .ok_or(ErrorCode::BatchNotFound)?)
    }
}
