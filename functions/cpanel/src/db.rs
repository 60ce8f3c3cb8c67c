//! `GET /cpanel/db`: lists the databases of the hosting account: MySQL's, then PostgreSQL's, each by name.

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
    let session = cpanel.panel_session(now).await?;
    let result = session.panel.databases(session.deadline).await;
    let databases = session.record(result).await.map_err(|error| error_code(&error))?;
    ok(DatabasesResponse { databases })
}
