//! `GET /sms/bulk/{batchId}`: a batch and how far its messages have come.

use axum::extract::State;
use common::{ApiError, ApiResult, ErrorCode, Now, Path, SignedIn, Verified, ok};
use domain::{
    BatchId,
    batch::{Batch, Progress},
    sms::Text,
};
use serde::Serialize;

use crate::{Messages, rights::sees};

#[derive(Serialize)]
pub(crate) struct BatchResponse {
    batch: Whole,
}

#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    batch: Batch,
    #[serde(flatten)]
    progress: Progress,
    message: Option<Text>,
}

pub(crate) async fn show(
    State(messages): State<Messages>,
    Now(now): Now,
    person: Verified,
    Path(id): Path<BatchId>,
) -> ApiResult<BatchResponse> {
    let batch = messages.batch(id, &person.0).await?;
    let (progress, message) = tokio::join!(
        messages.store.progress(&batch),
        messages.store.batch_text(id, now)
    );
    ok(BatchResponse {
        batch: Whole {
            batch,
            progress: progress?,
            message: message?,
        },
    })
}

impl Messages {
    /// The batch `id`, if `person` may see it.
    ///
    /// # Errors
    /// `BATCH_NOT_FOUND_MESSAGE`.
    pub(crate) async fn batch(&self, id: BatchId, person: &SignedIn) -> Result<Batch, ApiError> {
        Ok(self
            .store
            .batch(id)
            .await?
            .filter(|batch| sees(person, &batch.sending))
            .ok_or(ErrorCode::BatchNotFound)?)
    }
}
