//! `GET /cpanel/subdomain`: the subdomains of the hosting account.

use axum::extract::State;
use common::{Now, Reply, Viewer, rights::ReadPanel, shown};
use domain::subdomain::Subdomain;
use serde::Serialize;

use crate::{Cpanel, gate::told_of};

#[derive(Serialize)]
pub(crate) struct Listed {
    subdomains: Vec<Subdomain>,
}

pub(crate) async fn list(
    State(cpanel): State<Cpanel>,
    Now(now): Now,
    _: Viewer<ReadPanel>,
) -> Reply<Listed> {
    let mut guest = cpanel.enter(now).await?;
    let domains = guest.domains().await.map_err(|trouble| told_of(&trouble))?;
    shown(Listed {
        subdomains: domains.subdomains(),
    })
}
