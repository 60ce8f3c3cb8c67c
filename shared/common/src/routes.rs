//! The routes of a function and their properties at the edge.

use axum::Router;

/// The routes of a function, and which of its paths are not cached, have no prefix, or are not rate-limited.
#[derive(Default)]
pub struct Routes {
    pub(crate) router: Router,
    /// Path prefixes whose responses have `Cache-Control: no-store`.
    no_store: Vec<&'static str>,
    /// Path prefixes that exist only without the API prefix.
    unprefixed: Vec<&'static str>,
    /// Paths that exist with and without the API prefix and whose GET and HEAD are not rate-limited.
    free: Vec<&'static str>,
}

impl Routes {
    /// The routes of `router`, whose paths have no API prefix.
    pub fn new(router: Router) -> Self {
        Self {
            router,
            ..Self::default()
        }
    }

    /// Sends `Cache-Control: no-store` with every response, errors included, to paths that begin with one of `starts`.
    #[must_use]
    pub fn no_store(mut self, starts: &[&'static str]) -> Self {
        self.no_store.extend(starts);
        self
    }

    /// Serves paths that begin with `start` only without the API prefix, and exempts them from the rate limit.
    #[must_use]
    pub fn unprefixed(mut self, start: &'static str) -> Self {
        self.unprefixed.push(start);
        self
    }

    /// Serves `path` with and without the API prefix, and exempts its GET and HEAD from the rate limit.
    #[must_use]
    pub fn free(mut self, path: &'static str) -> Self {
        self.free.push(path);
        self
    }

    /// Adds the routes of `other` and their properties.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.router = self.router.merge(other.router);
        self.no_store.extend(other.no_store);
        self.unprefixed.extend(other.unprefixed);
        self.free.extend(other.free);
        self
    }

    pub(crate) fn is_no_store(&self, path: &str) -> bool {
        self.no_store.iter().any(|start| path.starts_with(start))
    }

    pub(crate) fn is_unprefixed(&self, path: &str) -> bool {
        self.unprefixed.iter().any(|start| path.starts_with(start))
    }

    pub(crate) fn is_free(&self, path: &str) -> bool {
        self.free.contains(&path)
    }
}
