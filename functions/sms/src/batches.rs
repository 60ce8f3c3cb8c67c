//! `GET /sms/bulk`: lists the batches that the caller or a committee sent, newest first.

use axum::extract::State;
use common::{ApiResult, Listed, Now, Paging, ok};
use domain::batch::Batch;

use crate::{Messages, rights::ListRequest};

pub(crate) async fn list(
    State(messages): State<Messages>,
    Now(now): Now,
    request: ListRequest,
    paging: Paging,
) -> ApiResult<Listed<Batch>> {
    let senders = request.senders();
    let list = paging.open(&messages.cursors, senders)?;
    let store = &messages.store;
    let read = store.kept_batches_of(senders, list.position(), list.limit, now);
    let page = request.page(&messages, read).await?;
    ok(list.listed("batches", page)?)
}
