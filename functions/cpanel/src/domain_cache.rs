//! What is remembered of the account's domains.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{
    Instant,
    subdomain::{Domains, RootDomain},
};

/// The domains of the account as this process last saw them, for a short while: who asks again and again for
/// one that is not among them is answered without the panel. Cloning shares them.
#[derive(Clone, Default)]
pub(crate) struct DomainCache(Arc<Mutex<Option<(Domains, Instant)>>>);

/// A domain that was added to the account is found after this long at the latest.
const SHORT_WHILE: Duration = Duration::from_secs(30);

impl DomainCache {
    /// At `now` the account had `domains`.
    pub(crate) fn see(&self, domains: &Domains, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((domains.clone(), now));
    }

    /// Whether `root` is known not to be among them.
    pub(crate) fn lack(&self, root: &RootDomain, now: Instant) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.as_ref()
            .is_some_and(|(domains, at)| now.since(*at) < SHORT_WHILE && !domains.has_root(root))
    }
}
