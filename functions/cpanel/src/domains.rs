//! `GET /cpanel/domains`: returns the domains of the hosting account.

use axum::extract::State;
use common::{ApiResult, Now, Viewer, ok, rights::ReadPanel};
use cpanel_client::PanelError;
use domain::subdomain::Domains;

use crate::{
    Cpanel,
    panel_session::{PanelSession, error_code},
};

pub(crate) async fn show(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> ApiResult<Domains> {
    let mut session = cpanel.panel_session(now).await?;
    ok(session.domains().await.map_err(|error| error_code(&error))?)
}

impl PanelSession {
    /// Reads the domains of the account from the panel and caches them.
    pub(crate) async fn domains(&mut self) -> Result<Domains, PanelError> {
        let result = self.panel.domains(self.budget).await;
        let domains = self.record(result).await?;
        self.domain_cache.put(&domains, self.started.0);
        Ok(domains)
    }
}
