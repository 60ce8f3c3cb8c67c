//! `GET /sms`: lists the messages that the caller or a committee sent, newest first, or those of a batch (`batchID`), in
//! the order of its recipients.

use axum::extract::State;
use common::{ApiResult, Listed, Now, Paging, Query, ok};
use domain::{BatchId, sms::Sms};

use crate::{Messages, rights::ListRequest};

pub(crate) async fn list(
    State(messages): State<Messages>,
    Now(now): Now,
    request: ListRequest,
    query: Query,
    paging: Paging,
) -> ApiResult<Listed<Sms>> {
    let (store, caller, senders) = (&messages.store, &request.caller, request.senders());
    let batch = query.get("batchID").map(BatchId::or_none);
    let list = paging.open(&messages.cursors, (batch, senders))?;
    let (position, limit) = (list.position(), list.limit);
    let page = match batch {
        Some(batch) => {
            messages.batch(batch, caller, now).await?;
            store.sms_of_batch(batch, position, limit).await?
        }
        None => {
            let read = store.kept_sms_of(senders, position, limit, now);
            request.page(&messages, read).await?
        }
    };
    ok(list.listed("sms", page)?)
}
