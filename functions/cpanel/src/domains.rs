//! `GET /cpanel/domains`: the domains of the hosting account.

use axum::extract::State;
use common::{Now, Reply, Viewer, rights::ReadPanel, shown};
use cpanel_client::Trouble;
use domain::subdomain::Domains;

use crate::{
    Cpanel,
    gate::{Guest, told_of},
};

pub(crate) async fn show(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> Reply<Domains> {
    let mut guest = cpanel.enter(now).await?;
    shown(guest.domains().await.map_err(|trouble| told_of(&trouble))?)
}

impl Guest {
    /// The domains of the account as they are now.
    pub(crate) async fn domains(&mut self) -> Result<Domains, Trouble> {
        let answered = self.panel.domains(self.visit).await;
        let domains = self.hear(answered).await?;
        self.own.see(&domains, self.came.0);
        Ok(domains)
    }
}
