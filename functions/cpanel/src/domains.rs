//! `GET /cpanel/domains`: the domains of the hosting account.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::extract::State;
use common::{Now, Reply, shown};
use domain::{
    Instant,
    subdomain::{Domains, RootDomain},
};
use panel::Trouble;

use crate::{
    Cpanel,
    gate::{Guest, told_of},
    rights::Reader,
};

pub(crate) async fn show(State(cpanel): State<Cpanel>, Now(now): Now, _: Reader) -> Reply<Domains> {
    let mut guest = cpanel.enter(now).await?;
    shown(guest.domains().await.map_err(|trouble| told_of(&trouble))?)
}

/// The domains of the account as this process last saw them, for a short while: who asks again and again for
/// one that is not among them is answered without the panel. Cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct Own(Arc<Mutex<Option<(Domains, Instant)>>>);

/// A domain that was added to the account is found after this long at the latest.
const SHORT_WHILE: Duration = Duration::from_secs(30);

impl Own {
    /// Whether `root` is known not to be among them.
    pub(crate) fn lack(&self, root: &RootDomain, now: Instant) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.as_ref().is_some_and(|(domains, at)| now.since(*at) < SHORT_WHILE && !domains.has_root(root))
    }
}

impl Guest {
    /// The domains of the account as they are now.
    pub(crate) async fn domains(&mut self) -> Result<Domains, Trouble> {
        let answered = self.panel.domains(self.visit).await;
        let domains = self.hear(answered).await?;
        *self.own.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((domains.clone(), self.came.0));
        Ok(domains)
    }
}
