//! The routes of a function and their properties at the edge.

use axum::{Router, handler::Handler, routing, routing::MethodRouter};

use crate::effect;

/// A method and path that a function serves, and what is special about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method in upper case, such as `GET`.
    pub method: &'static str,
    /// The path without API prefix, such as `/courses/{courseId}`.
    pub path: &'static str,
    /// Whether it is a GET that changes or sends something.
    pub has_effect: bool,
    /// Whether it is a step of a sign-in.
    pub is_sign_in: bool,
}

/// The routes of a function, and which of its paths are not cached, have no API prefix or are not rate-limited.
/// `S` is the state that the handlers take, until [`Routes::with_state`] provides it.
pub struct Routes<S = ()> {
    routes: Vec<(Route, MethodRouter<S>)>,
    /// Path prefixes whose responses have `Cache-Control: no-store`.
    no_store: Vec<&'static str>,
    /// Path prefixes that exist only without the API prefix.
    unprefixed: Vec<&'static str>,
    /// Paths that exist with and without the API prefix and whose GET and HEAD are not rate-limited.
    unlimited: Vec<&'static str>,
}

impl<S> Default for Routes<S> {
    fn default() -> Self {
        Self { routes: vec![], no_store: vec![], unprefixed: vec![], unlimited: vec![] }
    }
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// Serves GET, and HEAD, of `path` by `handler`.
    #[must_use]
    pub fn get<H: Handler<T, S>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add("GET", path, routing::get(handler))
    }

    /// Serves GET of `path` by `handler`, which changes or sends something. HEAD is 405; a prefetch by a browser or mail
    /// scanner (`Sec-Purpose` or `Purpose: prefetch`) is 403 and does not reach `handler`. Responses are never 304 and
    /// never cached.
    #[must_use]
    pub fn effect<H: Handler<T, S>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        let mut routes = self.add("GET", path, routing::get(handler));
        routes.last(|route| route.has_effect = true);
        routes
    }

    /// Serves POST of `path` by `handler`.
    #[must_use]
    pub fn post<H: Handler<T, S>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add("POST", path, routing::post(handler))
    }

    /// Serves PUT of `path` by `handler`.
    #[must_use]
    pub fn put<H: Handler<T, S>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add("PUT", path, routing::put(handler))
    }

    /// Serves DELETE of `path` by `handler`.
    #[must_use]
    pub fn delete<H: Handler<T, S>, T: 'static>(self, path: &'static str, handler: H) -> Self {
        self.add("DELETE", path, routing::delete(handler))
    }

    /// Makes the last route a step of a sign-in: its 400, 401 and 429 count in the metric `SignInFailures`, which shows
    /// password guessing. The 429 of the rate limit does not count, as it reveals nothing to an attacker.
    #[must_use]
    pub fn sign_in(mut self) -> Self {
        self.last(|route| route.is_sign_in = true);
        self
    }

    /// Sends `Cache-Control: no-store` with every response, errors included, to paths that begin with `prefix`.
    #[must_use]
    pub fn no_store(mut self, prefix: &'static str) -> Self {
        self.no_store.push(prefix);
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

    /// Provides the state of the handlers.
    pub fn with_state(self, state: S) -> Routes {
        let with_state =
            |(route, router): (Route, MethodRouter<S>)| (route, router.with_state(state.clone()));
        Routes {
            routes: self.routes.into_iter().map(with_state).collect(),
            no_store: self.no_store,
            unprefixed: self.unprefixed,
            unlimited: self.unlimited,
        }
    }

    fn add(mut self, method: &'static str, path: &'static str, router: MethodRouter<S>) -> Self {
        let route = Route { method, path, has_effect: false, is_sign_in: false };
        self.routes.push((route, router));
        self
    }

    fn last(&mut self, change: impl FnOnce(&mut Route)) {
        if let Some((route, _)) = self.routes.last_mut() {
            change(route);
        }
    }
}

impl Routes {
    /// Adds the routes of `other` and their properties.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.routes.extend(other.routes);
        self.no_store.extend(other.no_store);
        self.unprefixed.extend(other.unprefixed);
        self.unlimited.extend(other.unlimited);
        self
    }

    /// All routes, in the order in which they were added.
    pub fn list(&self) -> impl Iterator<Item = Route> {
        self.routes.iter().map(|(route, _)| *route)
    }

    pub(crate) fn router(&self) -> Router {
        self.routes.iter().fold(Router::new(), |all, (route, router)| {
            let mut router = router.clone();
            if route.has_effect {
                router = effect::guarded(router, self.methods_of(route.path));
            }
            if route.is_sign_in {
                router = effect::sign_in(router);
            }
            all.route(route.path, router)
        })
    }

    /// The methods of `path`, separated by commas.
    fn methods_of(&self, path: &str) -> String {
        let routes = self.list().filter(|route| route.path == path);
        routes.map(|route| route.method).collect::<Vec<_>>().join(",")
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
}
