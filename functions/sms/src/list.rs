//! `GET /sms`: lists the messages that the caller or a committee sent, newest first, or those of a batch (`batchID`), in
//! the order of its recipients.

use axum::extract::State;
use common::{ApiResult, Now, Paging, Query, ok};
use domain::{BatchId, sms::Sms};
use serde::Serialize;

use crate::{Messages, rights::ListRequest};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SmsListResponse {
    sms: Vec<Sms>,
    next_cursor: Option<String>,
}

pub(crate) async fn list(
    State(messages): State<Messages>,
    Now(now): Now,
    request: ListRequest,
    query: Query,
    paging: Paging,
) -> ApiResult<SmsListResponse> {
    let (store, caller, senders) = (&messages.store, &request.caller, request.senders());
    let batch = query.get("batchID").map(BatchId::or_none);
    let list = format!("GET /sms batch={batch:?} of={senders:?} caller={}", caller.user.user_id);
    let list = paging.open(&messages.cursors, list, now)?;
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
    let next_cursor = list.next_cursor(page.last)?;
    ok(SmsListResponse { sms: page.items, next_cursor })
}
