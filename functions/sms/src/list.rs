//! `GET /sms`: what the caller sent, newest first, or the messages of one batch, as its recipients were named.

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
    person: Verified,
    query: Query,
    paging: Paging,
) -> ApiResult<SmsListResponse> {
    let (store, caller) = (&messages.store, person.0.user.user_id);
    let asked = query.get("batchID").map(BatchId::in_path);
    let list = format!("GET /sms batch={asked:?} caller={caller}");
    let list = paging.open(&messages.cursors, list, now)?;
    let page = match asked {
        Some(batch) => {
            messages.batch(batch, &person.0).await?;
            store
                .sms_of_batch(batch, list.position(), list.limit)
                .await?
        }
        None => store.sms_of(caller, list.position(), list.limit).await?,
    };
    let next_cursor = list.next_cursor(page.last)?;
    ok(SmsListResponse {
        sms: page.items,
        next_cursor,
    })
}
