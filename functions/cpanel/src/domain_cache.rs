//! A short-lived cache of the account's domains.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{
    Instant,
    subdomain::{Domains, RootDomain},
};

/// The domains that this process last read. Repeated requests for another domain are rejected without calling the
/// panel. Clones share the cache.
#[derive(Clone, Default)]
pub(crate) struct DomainCache(Arc<Mutex<Option<(Domains, Instant)>>>);

/// The age of an entry up to which it is used. A domain that was added meanwhile is unknown until then.
const MAX_AGE: Duration = Duration::from_secs(30);

impl DomainCache {
    /// Stores the `domains` that the account had at `now`.
    pub(crate) fn put(&self, domains: &Domains, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((domains.clone(), now));
    }

    /// Whether the cache is current and does not contain `root`.
    pub(crate) fn lacks(&self, root: &RootDomain, now: Instant) -> bool {
        let entry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entry
            .as_ref()
            .is_some_and(|(domains, at)| now.since(*at) < MAX_AGE && !domains.has_root(root))
    }
}
