//! `GET /cpanel/domains`: returns the domains of the hosting account.

use axum::extract::State;
use common::{ApiResult, Now, Viewer, ok, rights::ReadPanel};
use domain::subdomain::Domains;

use crate::{Cpanel, panel_session::error_code};

pub(crate) async fn show(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> ApiResult<Domains> {
    let session = cpanel.panel_session(now).await?;
    ok(session.domains().await.map_err(|error| error_code(&error))?)
}
