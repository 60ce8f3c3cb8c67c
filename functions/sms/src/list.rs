//! `GET /sms`: lists the messages that the caller sent, newest first, or those of a batch (`batchID`), in the order of
//! its recipients.

use axum::extract::State;
use common::{ApiResult, Now, Paging, Query, Verified, ok};
use domain::{BatchId, sms::Sms};
use serde::Serialize;

use crate::Messages;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SmsListResponse {
    sms: Vec<Sms>,
    next_cursor: Option<String>,
}

pub(crate) async fn list(
    State(messages): State<Messages>,
    Now(now): Now,
    verified: Verified,
    query: Query,
    paging: Paging,
) -> ApiResult<SmsListResponse> {
    let (store, caller) = (&messages.store, verified.0.user.user_id);
    let batch = query.get("batchID").map(BatchId::in_path);
    let list = format!("GET /sms batch={batch:?} caller={caller}");
    let list = paging.open(&messages.cursors, list, now)?;
    let page = match batch {
        Some(batch) => {
            messages.batch(batch, &verified.0, now).await?;
            store
                .sms_of_batch(batch, list.position(), list.limit)
                .await?
        }
        None => {
            store
                .kept_sms_of(caller, list.position(), list.limit, now)
                .await?
        }
    };
    let next_cursor = list.next_cursor(page.last)?;
    ok(SmsListResponse {
        sms: page.items,
        next_cursor,
    })
}
