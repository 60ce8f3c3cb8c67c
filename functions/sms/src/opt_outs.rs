//! `GET /sms/opt-outs`: lists the opt-outs of a committee, or those for all committees, newest first.

use axum::extract::State;
use common::{ApiResult, Listed, Paging, ok};
use domain::sms::OptOut;

use crate::{Messages, rights::OptOutViewer};

pub(crate) async fn list(
    State(messages): State<Messages>,
    viewer: OptOutViewer,
    paging: Paging,
) -> ApiResult<Listed<OptOut>> {
    let list = paging.open(&messages.cursors, viewer.requested)?;
    let committee = viewer.committee(&messages).await?;
    let page = messages.store.opt_outs(committee, list.position(), list.limit).await?;
    ok(list.listed("optOuts", page)?)
}
