//! Handles every request: rate limit and caller in parallel, then the route, then the response headers.

use std::{net::IpAddr, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{MatchedPath, Request},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::Instant;
use futures_util::FutureExt;
use http::{HeaderValue, Method, StatusCode, Uri, header};
use identity::{random, token::Claims};
use runtime::{Clock, ConfigError, Key, Settings};
use store::{Setup, for_request, metered, with_deadline};
use tower::ServiceExt;
use tracing::{Instrument, field::Empty};

use crate::{
    ApiError, Client, ErrorCode, Now, Routes, SignedIn, Throttle,
    caller::{Authenticator, BearerToken, Caller},
    content_network::ContentNetwork,
    effect::{SignIn, WasHead},
    envelope::Cause,
    headers,
    lifetimes::TokenLifetimes,
    prefixes::Prefixes,
    throttle::RateLimitState,
};

/// `lastActive` is written when the stored time is older than this.
const ACTIVE_INTERVAL: Duration = Duration::from_secs(300);
/// Requests to the store are not retried after this time, except those of work that has a time of its own.
pub const UPDATE_DEADLINE: Duration = Duration::from_secs(5);

/// The errors that the hosting account's panel causes. Alarms subtract them from the server errors.
const PANEL_ERRORS: [ErrorCode; 5] = [
    ErrorCode::CpanelAuth,
    ErrorCode::CpanelUnreachable,
    ErrorCode::CpanelRefused,
    ErrorCode::CpanelUnavailable,
    ErrorCode::CpanelTimeout,
];

/// The HTTP edge of one function. Clones share its caches.
#[derive(Clone)]
pub struct Edge(Arc<Inner>);

struct Inner {
    router: Router,
    routes: Routes,
    prefixes: Prefixes,
    powered_by: HeaderValue,
    clock: Clock,
    throttle: Throttle,
    authenticator: Authenticator,
    content_network: ContentNetwork,
}

/// A request extension: the ids under which the gateway and Lambda know the request.
#[derive(Debug, Clone)]
pub(crate) struct Invocation {
    pub(crate) gateway_id: String,
    pub(crate) lambda_id: String,
}

/// A request extension: the Lambda event, or the connection, contained no valid request. The response is 400 with all
/// headers.
#[derive(Debug, Clone, Copy)]
pub struct UnreadableRequest;

impl Edge {
    /// The edge in front of `routes`. Settings, with defaults: `API_PREFIXES` (`/api/v1,/api/dev`), `POWERED_BY`
    /// (`Halqa`), `RATE_LIMIT` (100), `RATE_WINDOW_SECONDS` (60), `EDGE` (`off`), and those of [`TokenLifetimes::of`].
    ///
    /// # Errors
    /// When one of them is invalid, or a key is missing or malformed.
    pub fn new(setup: &Setup, routes: Routes) -> Result<Self, ConfigError> {
        let settings = &setup.settings;
        let router = routes
            .router()
            .route_layer(from_fn(remember_route))
            .fallback(|| async { ApiError::from(ErrorCode::NotFound) })
            .method_not_allowed_fallback(|| async { ApiError::from(ErrorCode::MethodNotAllowed) });
        Ok(Self(Arc::new(Inner {
            router,
            routes,
            prefixes: Prefixes::of(settings)?,
            powered_by: powered_by(settings)?,
            clock: setup.clock.clone(),
            throttle: Throttle::new(
                setup.store.clone(),
                settings.number("RATE_LIMIT", 100)?,
                settings.seconds("RATE_WINDOW_SECONDS", 60)?,
            ),
            content_network: ContentNetwork::new(setup)?,
            authenticator: Authenticator::new(
                setup.store.clone(),
                setup.keys.parse(Key::TokenPublic)?,
                TokenLifetimes::of(settings)?,
            ),
        })))
    }

    /// Answers `request` from `ip`. Errors and panics become responses with all headers. Writes one log line; this and
    /// all lines that are written meanwhile are in one span, with the ids of the request, its route and its user.
    pub async fn answer(&self, request: http::Request<Bytes>, ip: IpAddr) -> http::Response<Bytes> {
        let now = self.0.clock.now();
        let id = random::id(now).to_string();
        let span = tracing::info_span!(
            "request",
            request_id = id,
            gateway_id = Empty,
            lambda_id = Empty,
            route = Empty,
            user_id = Empty
        );
        if let Some(Invocation { gateway_id, lambda_id }) = request.extensions().get() {
            span.record("gateway_id", gateway_id).record("lambda_id", lambda_id);
        }
        // A box, because the future has tens of kilobytes, which each layer around it would move.
        Box::pin(self.answer_in_span(request, ip, now, &id)).instrument(span).await
    }

    async fn answer_in_span(
        &self,
        request: http::Request<Bytes>,
        ip: IpAddr,
        now: Instant,
        id: &str,
    ) -> http::Response<Bytes> {
        let start = tokio::time::Instant::now();
        let method = request.method().clone();
        let request_headers = request.headers().clone();

        let handling = with_deadline(UPDATE_DEADLINE, Box::pin(self.0.handle(request, ip, now)));
        let (handled, requests) = for_request(id.to_owned(), metered(handling)).await;
        let HandledRequest { response, rate_limit } = handled;
        let mut response = headers::finalized(&method, &request_headers, response).await;
        headers::set_constant(response.headers_mut(), &self.0.powered_by, id);
        if let Some(rate_limit) = rate_limit {
            headers::set_limit(response.status(), response.headers_mut(), &rate_limit);
        }

        let route =
            response.extensions().get::<Route>().map_or("-", |route| route.0.as_str()).to_owned();
        let status = response.status().as_u16();
        let took = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(Cause(cause)) = response.extensions().get() {
            tracing::error!(route, error = cause, "request failed");
        }
        if response.extensions().get::<SignIn>().is_some() && [400, 401, 429].contains(&status) {
            tracing::warn!(route, status, metric = "SignInFailures", "sign-in failed");
        }
        if response.extensions().get().is_some_and(|code| PANEL_ERRORS.contains(code)) {
            tracing::warn!(metric = "PanelErrors", "the hosting account's panel failed");
        }
        let method = headers::name_of(&method);
        tracing::info!(%method, route, status, took, round_trips = requests.round_trips, requests = requests.requests, "request");
        response.extensions_mut().insert(requests);
        response
    }
}

struct HandledRequest {
    response: Response,
    rate_limit: Option<RateLimitState>,
}

impl HandledRequest {
    /// A response outside the rate limit.
    fn unlimited(response: Response) -> Self {
        Self { response, rate_limit: None }
    }
}

impl Inner {
    async fn handle(
        &self,
        request: http::Request<Bytes>,
        ip: IpAddr,
        now: Instant,
    ) -> HandledRequest {
        let path = self.prefixes.strip(request.uri().path(), &self.routes);
        if request.method() == Method::OPTIONS {
            let mut response = StatusCode::NO_CONTENT.into_response();
            headers::set_preflight(response.headers_mut(), request.headers());
            return HandledRequest::unlimited(response);
        }
        let client = self.content_network.client(ip, request.headers());
        if self.is_exempt_from_limit(path.as_deref(), request.method()) {
            let response = self.route(request, path, Caller::Anonymous, client, now).await;
            return HandledRequest::unlimited(response);
        }

        let no_store = path.as_deref().is_some_and(|path| self.routes.is_no_store(path));
        let token = BearerToken::read(request.headers(), &self.authenticator.verifier, now);
        let (rate_limit, mut response) = match token {
            BearerToken::Valid(claims, token) if !self.authenticator.has_ended(claims.sid) => {
                self.route_with_session(request, path, *claims, token, client, now).await
            }
            token => {
                let caller = match token {
                    BearerToken::Absent => Caller::Anonymous,
                    BearerToken::Invalid | BearerToken::Valid(..) => Caller::InvalidToken,
                };
                self.route_without_session(request, path, caller, client, now).await
            }
        };
        if no_store {
            response
                .headers_mut()
                .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        HandledRequest { response, rate_limit: Some(rate_limit) }
    }

    /// Counts the request for its account while the caller is loaded, then calls its handler.
    async fn route_with_session(
        &self,
        request: http::Request<Bytes>,
        path: Option<String>,
        claims: Claims,
        token: String,
        client: Client,
        now: Instant,
    ) -> (RateLimitState, Response) {
        let key = format!("u:{}", claims.sub);
        tracing::Span::current().record("user_id", tracing::field::display(claims.sub));
        let (rate_limit, caller) = match self.throttle.known_over_limit(&key, now) {
            Some(over) => (over, Caller::Anonymous),
            None => tokio::join!(
                self.throttle.count(&key, now),
                self.authenticator.authenticate(claims, token, now)
            ),
        };
        let person = match &caller {
            Caller::SignedIn(person) => Some(Arc::clone(person)),
            _ => None,
        };
        let is_read = request.method().is_safe();
        let touch = self.touch_last_active(person.as_deref(), now);
        let response = async {
            if rate_limit.is_over {
                over_limit(&rate_limit)
            } else if is_read {
                tokio::join!(self.route(request, path, caller, client, now), touch).0
            } else {
                // Beside a handler that writes the same items it would make their transactions conflict.
                let response = self.route(request, path, caller, client, now).await;
                touch.await;
                response
            }
        };
        let response = response.await;
        (rate_limit, response)
    }

    /// Counts the request for its network, then calls its handler.
    async fn route_without_session(
        &self,
        request: http::Request<Bytes>,
        path: Option<String>,
        caller: Caller,
        client: Client,
        now: Instant,
    ) -> (RateLimitState, Response) {
        let rate_limit = self.throttle.count(&format!("ip:{}", client.network), now).await;
        let response = if rate_limit.is_over {
            over_limit(&rate_limit)
        } else {
            self.route(request, path, caller, client, now).await
        };
        (rate_limit, response)
    }

    fn is_exempt_from_limit(&self, path: Option<&str>, method: &Method) -> bool {
        let is_read = method == Method::GET || method == Method::HEAD;
        path.is_some_and(|path| {
            self.routes.is_unprefixed(path) || (is_read && self.routes.is_unlimited(path))
        })
    }

    async fn route(
        &self,
        request: http::Request<Bytes>,
        path: Option<String>,
        caller: Caller,
        client: Client,
        now: Instant,
    ) -> Response {
        if request.extensions().get::<UnreadableRequest>().is_some() {
            return ApiError::from(ErrorCode::MalformedRequest).into_response();
        }
        if !self.content_network.admits(request.headers()) {
            return ApiError::from(ErrorCode::Forbidden).into_response();
        }
        let Some(path) = path else {
            return ApiError::from(ErrorCode::NotFound).into_response();
        };
        let (mut parts, body) = request.into_parts();
        let uri = match parts.uri.query() {
            Some(query) => format!("{path}?{query}").parse::<Uri>(),
            None => path.parse::<Uri>(),
        };
        let Ok(uri) = uri else {
            return ApiError::from(ErrorCode::NotFound).into_response();
        };
        parts.uri = uri;
        parts.extensions.insert(Now(now));
        parts.extensions.insert(client);
        parts.extensions.insert(caller);
        if parts.method == Method::HEAD {
            parts.method = Method::GET;
            parts.extensions.insert(WasHead);
        }
        let request = Request::from_parts(parts, Body::from(body));
        let result =
            AssertUnwindSafe(Box::pin(self.router.clone().oneshot(request))).catch_unwind().await;
        match result {
            Ok(Ok(response)) => response,
            Err(panic) => {
                let text = panic
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
                    .or_else(|| panic.downcast_ref::<String>().cloned());
                let mut response = ApiError::from(ErrorCode::Internal).into_response();
                response
                    .extensions_mut()
                    .insert(Cause(format!("panic: {}", text.unwrap_or_default())));
                response
            }
        }
    }

    /// An error only makes `lastActive` less precise, so it is logged and ignored.
    async fn touch_last_active(&self, person: Option<&SignedIn>, now: Instant) {
        let due = person.filter(|person| {
            now.since(person.user.last_active.min(person.session.last_active)) >= ACTIVE_INTERVAL
        });
        let Some(SignedIn { user, session, .. }) = due else {
            return;
        };
        if let Err(failure) = self.authenticator.store.touch(user.user_id, session.sid, now).await {
            tracing::warn!(%failure, "lastActive was not written");
        }
    }
}

fn over_limit(limit: &RateLimitState) -> Response {
    ApiError::retry_after(ErrorCode::TooManyRequests, limit.ends.since(limit.now)).into_response()
}

fn powered_by(settings: &Settings) -> Result<HeaderValue, ConfigError> {
    let text = settings.optional("POWERED_BY").unwrap_or("Halqa");
    HeaderValue::from_str(text).map_err(|_| {
        ConfigError::new("POWERED_BY", "must be visible ASCII, because it is sent as a header")
    })
}

/// The route template for the log, such as `/users/{userId}`.
#[derive(Clone)]
struct Route(String);

async fn remember_route(request: Request, next: Next) -> Response {
    let route =
        request.extensions().get::<MatchedPath>().map(|path| Route(path.as_str().to_owned()));
    if let Some(Route(route)) = &route {
        tracing::Span::current().record("route", route);
    }
    let mut response = next.run(request).await;
    if let Some(route) = route {
        response.extensions_mut().insert(route);
    }
    response
}
