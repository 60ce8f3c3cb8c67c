//! `GET /sms/opt-outs`: lists the opt-outs of a committee, or those for all committees, newest first.

use axum::extract::State;
use common::{ApiResult, Now, Paging, ok};
use domain::sms::OptOut;
use serde::Serialize;

use crate::{Messages, rights::OptOutViewer};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OptOutsResponse {
    opt_outs: Vec<OptOut>,
    next_cursor: Option<String>,
}

pub(crate) async fn list(
    State(messages): State<Messages>,
    Now(now): Now,
    viewer: OptOutViewer,
    paging: Paging,
) -> ApiResult<OptOutsResponse> {
    let committee = viewer.committee(&messages).await?;
    let list =
        format!("GET /sms/opt-outs committee={committee:?} caller={}", viewer.user().user_id);
    let list = paging.open(&messages.cursors, list, now)?;
    let page = messages.store.opt_outs(committee, list.position(), list.limit).await?;
    let next_cursor = list.next_cursor(page.last)?;
    ok(OptOutsResponse { opt_outs: page.items, next_cursor })
}
