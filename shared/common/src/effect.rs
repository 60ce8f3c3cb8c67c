//! Wrappers for routes: GETs with side effects, and steps of a sign-in.

use axum::{
    extract::Request,
    handler::Handler,
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use http::{HeaderValue, header};

use crate::{ApiError, ErrorCode};

/// A request extension: the request was HEAD before the edge changed it to GET.
#[derive(Clone, Copy)]
pub(crate) struct WasHead;

/// A response extension: never send 304 instead of this response.
#[derive(Clone, Copy)]
pub(crate) struct Effect;

/// A response extension: the route is a step of a sign-in.
#[derive(Clone, Copy)]
pub(crate) struct SignIn;

/// Marks `route` as a step of a sign-in: its 400, 401 and 429 count in the metric `SignInFailures`, which shows
/// password guessing. The 429 of the rate limit does not count, as it reveals nothing to an attacker.
pub fn sign_in<S: Clone + Send + Sync + 'static>(route: MethodRouter<S>) -> MethodRouter<S> {
    route.layer(from_fn(async |request: Request, next: Next| {
        let mut response = next.run(request).await;
        response.extensions_mut().insert(SignIn);
        response
    }))
}

/// Routes GET to `handler`, which has side effects. HEAD is 405 with `Allow: {allow}`; `allow` lists the methods of the
/// path, separated by commas. A prefetch by a browser or mail scanner (`Sec-Purpose` or `Purpose: prefetch`) is 403 and
/// does not reach `handler`. Responses are never 304 and never cached.
pub fn effect<H, T, S>(handler: H, allow: &'static str) -> MethodRouter<S>
where
    H: Handler<T, S>,
    T: 'static,
    S: Clone + Send + Sync + 'static,
{
    let method_not_allowed = move || ApiError::method_not_allowed(allow).into_response();
    let guarded = get(handler).layer(from_fn(move |request: Request, next: Next| async move {
        let mut response = if request.extensions().get::<WasHead>().is_some() {
            method_not_allowed()
        } else if is_prefetch(&request) {
            ApiError::from(ErrorCode::PrefetchRefused).into_response()
        } else {
            next.run(request).await
        };
        response.extensions_mut().insert(Effect);
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response as Response
    }));
    // The router's own 405 would allow HEAD on every path that has GET.
    guarded.fallback(move || async move { method_not_allowed() })
}

fn is_prefetch(request: &Request) -> bool {
    ["sec-purpose", "purpose"].into_iter().flat_map(|name| request.headers().get_all(name)).any(
        |value| {
            let value = value.to_str().unwrap_or_default().to_ascii_lowercase();
            value.split([';', ',']).any(|word| word.trim() == "prefetch")
        },
    )
}
