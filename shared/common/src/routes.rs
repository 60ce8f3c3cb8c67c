//! A function's routes, and what the edge must know of a path before it calls one.

use axum::Router;

/// The routes of a function. Each function declares here what its paths are; the edge lists none.
#[derive(Default)]
pub struct Routes {
    pub(crate) router: Router,
    /// Paths that begin with one of these are answered with `Cache-Control: no-store`.
    no_store: Vec<&'static str>,
    /// Paths that begin with one of these stand outside the prefixes, and there alone.
    unprefixed: Vec<&'static str>,
    /// Paths that stand outside the prefixes, too, and whose reads cost no point of the public limit.
    free: Vec<&'static str>,
}

impl Routes {
    /// The routes of `router`, which knows paths without the prefix.
    pub fn new(router: Router) -> Self {
        Self {
            router,
            ..Self::default()
        }
    }

    /// The same; answers to paths that begin with one of `starts` are never stored, refusals included.
    #[must_use]
    pub fn no_store(mut self, starts: &[&'static str]) -> Self {
        self.no_store.extend(starts);
        self
    }

    /// The same; paths that begin with `start` have no prefix, and cost no point of the public limit.
    #[must_use]
    pub fn unprefixed(mut self, start: &'static str) -> Self {
        self.unprefixed.push(start);
        self
    }

    /// The same; `path` is found with and without a prefix, and reading it costs no point.
    #[must_use]
    pub fn free(mut self, path: &'static str) -> Self {
        self.free.push(path);
        self
    }

    /// These and the `other` routes.
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
