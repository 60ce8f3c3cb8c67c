//! `GET /sms/opt-outs`: the numbers that a committee, or all of them, do not write to, newest first.

use axum::extract::State;
use common::{Now, Paging, Reply, shown};
use domain::sms::OptOut;
use serde::Serialize;

use crate::{Messages, rights::ListReader};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    opt_outs: Vec<OptOut>,
    next_cursor: Option<String>,
}

pub(crate) async fn list(
    State(messages): State<Messages>,
    Now(now): Now,
    reader: ListReader,
    paging: Paging,
) -> Reply<Listed> {
    let committee = reader.committee(&messages).await?;
    let list = format!(
        "GET /sms/opt-outs committee={committee:?} caller={}",
        reader.user()
    );
    let position = paging
        .cursor
        .map(|cursor| messages.cursors.read(&cursor, &list, now))
        .transpose()?;
    let page = messages
        .store
        .opt_outs(committee, position.as_deref(), paging.limit)
        .await?;
    let next_cursor = page
        .last
        .map(|position| messages.cursors.write(&position, &list, now))
        .transpose()?;
    shown(Listed {
        opt_outs: page.items,
        next_cursor,
    })
}
