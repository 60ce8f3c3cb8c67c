//! `GET /cpanel/domains`: the domains of the hosting account.

use axum::extract::State;
use common::{ApiResult, Now, Viewer, ok, rights::ReadPanel};
use cpanel_client::PanelError;
use domain::subdomain::Domains;

use crate::{
    Cpanel,
    gate::{Guest, told_of},
};

pub(crate) async fn show(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> ApiResult<Domains> {
    let mut guest = cpanel.enter(now).await?;
    ok(guest.domains().await.map_err(|error| told_of(&error))?)
}

impl Guest {
    /// The domains of the account as they are now.
    pub(crate) async fn domains(&mut self) -> Result<Domains, PanelError> {
        let answered = self.panel.domains(self.visit).await;
        let domains = self.hear(answered).await?;
        self.own.see(&domains, self.came.0);
        Ok(domains)
    }
}
