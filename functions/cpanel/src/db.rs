//! `GET /cpanel/db`: the databases of the hosting account, MySQL's first, by name.

use axum::extract::State;
use common::{ApiResult, Now, Viewer, ok, rights::ReadPanel};
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
) -> ApiResult<DatabasesResponse> {
    let mut guest = cpanel.enter(now).await?;
    let answered = guest.panel.databases(guest.visit).await;
    let databases = guest
        .hear(answered)
        .await
        .map_err(|error| told_of(&error))?;
    ok(DatabasesResponse { databases })
}
