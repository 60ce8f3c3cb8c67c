//! What the edge does around GETs with side effects and around steps of a sign-in.

use axum::{
    extract::Request,
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::MethodRouter,
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

/// `router`, whose responses are those of a step of a sign-in.
pub(crate) fn sign_in(router: MethodRouter) -> MethodRouter {
    router.layer(from_fn(async |request: Request, next: Next| {
        let mut response = next.run(request).await;
        response.extensions_mut().insert(SignIn);
        response
    }))
}

/// `router` of a GET that has an effect: HEAD is 405 with `Allow: {allow}`, a prefetch 403.
pub(crate) fn guarded(router: MethodRouter, allow: String) -> MethodRouter {
    let method_not_allowed = move || ApiError::method_not_allowed(&allow).into_response();
    let refuse_head = method_not_allowed.clone();
    let guarded = router.layer(from_fn(move |request: Request, next: Next| {
        let refuse_head = refuse_head.clone();
        async move {
            let mut response = if request.extensions().get::<WasHead>().is_some() {
                refuse_head()
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
        }
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
