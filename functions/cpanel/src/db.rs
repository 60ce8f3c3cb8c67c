//! `GET /cpanel/db`: the databases of the hosting account, MySQL's first, by name.

use axum::extract::State;
use common::{ApiResult, Now, Viewer, ok, rights::ReadPanel};
use cpanel_client::Database;
use serde::Serialize;

use crate::{Cpanel, panel_session::error_code};

#[derive(Serialize)]
pub(crate) struct DatabasesResponse {
    databases: Vec<Database>,
}

pub(crate) async fn list(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> ApiResult<DatabasesResponse> {
    let mut guest = cpanel.panel_session(now).await?;
    let answered = guest.panel.databases(guest.visit).await;
    let databases = guest
        .record(answered)
        .await
        .map_err(|error| error_code(&error))?;
    ok(DatabasesResponse { databases })
}
