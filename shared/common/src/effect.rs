//! GETs that change something or send something: the interface has a few.

use axum::{
    extract::Request,
    handler::Handler,
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use http::{HeaderValue, header};

use crate::{ApiError, ErrorCode};

/// The request was a HEAD before the edge made a GET of it.
#[derive(Clone, Copy)]
pub(crate) struct WasHead;

/// The answer is of this moment: never a 304, never stored.
#[derive(Clone, Copy)]
pub(crate) struct Effect;

/// The route is a step of a sign-in.
#[derive(Clone, Copy)]
pub(crate) struct SignIn;

/// `route` as a step of a sign-in: its 400, 401 and 429 are counted in the metric `SignInFailures`, for an
/// attack begins with them. What the public limit refuses is not: it tells an attacker nothing.
pub fn sign_in<S: Clone + Send + Sync + 'static>(route: MethodRouter<S>) -> MethodRouter<S> {
    route.layer(from_fn(async |request: Request, next: Next| {
        let mut response = next.run(request).await;
        response.extensions_mut().insert(SignIn);
        response
    }))
}

/// Routes GET to `handler`, which changes or sends something: HEAD is 405 with `allow`, the
/// methods that the path does take; a prefetch (`Sec-Purpose` or `Purpose: prefetch`, as browsers
/// and mail scanners send it) is 403 and changes nothing; the answer is never a 304 nor stored.
pub fn effect<H, T, S>(handler: H, allow: &'static str) -> MethodRouter<S>
where
    H: Handler<T, S>,
    T: 'static,
    S: Clone + Send + Sync + 'static,
{
    let refused = move || ApiError::method_not_allowed(allow).into_response();
    let guarded = get(handler).layer(from_fn(move |request: Request, next: Next| async move {
        let mut response = if request.extensions().get::<WasHead>().is_some() {
            refused()
        } else if is_prefetch(&request) {
            ApiError::from(ErrorCode::PrefetchRefused).into_response()
        } else {
            next.run(request).await
        };
        response.extensions_mut().insert(Effect);
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response as Response
    }));
    // The router would name HEAD wherever there is a GET.
    guarded.fallback(move || async move { refused() })
}

fn is_prefetch(request: &Request) -> bool {
    ["sec-purpose", "purpose"]
        .into_iter()
        .flat_map(|name| request.headers().get_all(name))
        .any(|value| {
            let value = value.to_str().unwrap_or_default().to_ascii_lowercase();
            value
                .split([';', ','])
                .any(|word| word.trim() == "prefetch")
        })
}
