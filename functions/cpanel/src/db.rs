//! `GET /cpanel/db`: the databases of the hosting account, MySQL's first, by name.

use axum::extract::State;
use common::{Now, Reply, Viewer, rights::ReadPanel, shown};
use cpanel_client::Database;
use serde::Serialize;

use crate::{Cpanel, gate::told_of};

#[derive(Serialize)]
pub(crate) struct DatabasesResponse {
    databases: Vec<Database>,
}

pub(crate) async fn list(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> Reply<DatabasesResponse> {
    let mut guest = cpanel.enter(now).await?;
    let answered = guest.panel.databases(guest.visit).await;
    let databases = guest
        .hear(answered)
        .await
        .map_err(|trouble| told_of(&trouble))?;
    shown(DatabasesResponse { databases })
}
