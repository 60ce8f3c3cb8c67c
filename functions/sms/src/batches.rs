//! `GET /sms/bulk`: lists the batches that the caller or a committee sent, newest first.

use axum::extract::State;
use common::{ApiResult, Now, Paging, ok};
use domain::batch::Batch;
use serde::Serialize;

use crate::{Messages, rights::ListRequest};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BatchesResponse {
    batches: Vec<Batch>,
    next_cursor: Option<String>,
}

pub(crate) async fn list(
    State(messages): State<Messages>,
    Now(now): Now,
    request: ListRequest,
    paging: Paging,
) -> ApiResult<BatchesResponse> {
    let senders = request.senders();
    let list = format!("GET /sms/bulk of={senders:?} caller={}", request.caller.user.user_id);
    let list = paging.open(&messages.cursors, list, now)?;
    let store = &messages.store;
    let read = store.kept_batches_of(senders, list.position(), list.limit, now);
    let page = request.page(&messages, read).await?;
    let next_cursor = list.next_cursor(page.last)?;
    ok(BatchesResponse { batches: page.items, next_cursor })
}
