//! The routes of a function and their properties at the edge.

use axum::Router;

/// The routes of a function, and which of its paths are not cached, have no API prefix, are not rate-limited, or begin
/// before they are counted.
#[derive(Default)]
pub struct Routes {
    pub(crate) router: Router,
    /// Path prefixes whose responses have `Cache-Control: no-store`.
    no_store: Vec<&'static str>,
    /// Path prefixes that exist only without the API prefix.
    unprefixed: Vec<&'static str>,
    /// Paths that exist with and without the API prefix and whose GET and HEAD are not rate-limited.
    unlimited: Vec<&'static str>,
    /// Paths whose handlers begin before the request is counted.
    early: Vec<&'static str>,
}

impl Routes {
    /// The routes of `router`, whose paths have no API prefix.
    pub fn new(router: Router) -> Self {
        Self { router, ..Self::default() }
    }

    /// Sends `Cache-Control: no-store` with every response, errors included, to paths that begin with one of
    /// `prefixes`.
    #[must_use]
    pub fn no_store(mut self, prefixes: &[&'static str]) -> Self {
        self.no_store.extend(prefixes);
        self
    }

    /// Serves paths that begin with `prefix` only without the API prefix, and exempts them from the rate limit.
    #[must_use]
    pub fn unprefixed(mut self, prefix: &'static str) -> Self {
        self.unprefixed.push(prefix);
        self
    }

    /// Serves `path` with and without the API prefix, and exempts its GET and HEAD from the rate limit.
    #[must_use]
    pub fn unlimited(mut self, path: &'static str) -> Self {
        self.unlimited.push(path);
        self
    }

    /// Calls the handlers of `path` while the request is counted against the rate limit, which saves a round trip. They
    /// take a [`PendingLimit`](crate::PendingLimit) and write nothing before it is counted.
    #[must_use]
    pub fn early(mut self, path: &'static str) -> Self {
        self.early.push(path);
        self
    }

    /// Adds the routes of `other` and their properties.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.no_store.extend(other.no_store);
        self.unprefixed.extend(other.unprefixed);
        self.unlimited.extend(other.unlimited);
        self.early.extend(other.early);
        self
    }

    pub(crate) fn is_no_store(&self, path: &str) -> bool {
        self.no_store.iter().any(|prefix| path.starts_with(prefix))
    }

    pub(crate) fn is_unprefixed(&self, path: &str) -> bool {
        self.unprefixed.iter().any(|prefix| path.starts_with(prefix))
    }

    pub(crate) fn is_unlimited(&self, path: &str) -> bool {
        self.unlimited.contains(&path)
    }

    pub(crate) fn is_early(&self, path: &str) -> bool {
        self.early.contains(&path)
    }
}
