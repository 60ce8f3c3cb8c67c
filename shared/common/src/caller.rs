//! The caller of a request, and extractors for handlers' signatures.
//!
//! The edge has loaded the caller before it chooses a route, in parallel with the rate limit. The extractors only read
//! its result, so the order of a handler's arguments is the order of its checks.

use std::{
    collections::HashSet,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use domain::{
    Instant, Profile, SessionId,
    committee::Committee,
    session::Session,
    user::{AccountWithCommittee, User},
};
use http::{HeaderMap, header, request::Parts};
use identity::token::{Claims, TokenUse, Verifier};
use store::{Store, StoreError};

use crate::{ApiError, ErrorCode, TokenLifetimes};

/// The time of the request. The edge reads the clock once per request.
#[derive(Debug, Clone, Copy)]
pub struct Now(pub Instant);

/// For [`SignedIn::require_recent`].
const MAX_AUTH_AGE: Duration = Duration::from_secs(600);

/// A person with a valid access token and a valid session.
///
/// The extractor rejects with 401 `BAD_AUTH_COMBINATION_MESSAGE`. As `Option<SignedIn>`, on public endpoints, an
/// invalid token is ignored.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// The caller's account.
    pub user: User,
    /// The committee of the account.
    pub committee: Committee,
    /// The session that the token belongs to.
    pub session: Session,
    /// The verified claims of the token.
    pub claims: Claims,
    /// The encoded token, without `Bearer`.
    pub token: String,
}

impl SignedIn {
    /// The account with its committee, as responses show it.
    pub fn account(&self) -> AccountWithCommittee {
        AccountWithCommittee::of(self.user.clone(), self.committee.clone())
    }

    /// Checks that the account is verified, by its mailbox or by an administrator.
    ///
    /// # Errors
    /// `ACCOUNT_NOT_VERIFIED_MESSAGE`.
    pub fn require_verified(&self) -> Result<(), ErrorCode> {
        if self.user.is_verified { Ok(()) } else { Err(ErrorCode::AccountNotVerified) }
    }

    /// Checks that the person authenticated in the last ten minutes, for changes of the ways to sign in.
    ///
    /// # Errors
    /// `REAUTHENTICATION_REQUIRED_MESSAGE`.
    pub fn require_recent(&self, now: Instant) -> Result<(), ErrorCode> {
        if now.since(self.session.auth_time) < MAX_AUTH_AGE {
            Ok(())
        } else {
            Err(ErrorCode::Reauthentication)
        }
    }

    /// Checks that the account's committee is active. Super admins are exempt.
    ///
    /// # Errors
    /// `COMMITTEE_INACTIVE_MESSAGE`.
    pub fn require_active_committee(&self) -> Result<(), ErrorCode> {
        if self.user.may_act_in(&self.committee) {
            Ok(())
        } else {
            Err(ErrorCode::CommitteeInactive)
        }
    }
}

/// A [`SignedIn`] whose account is verified; otherwise `ACCOUNT_NOT_VERIFIED_MESSAGE`.
#[derive(Debug, Clone)]
pub struct Verified(pub SignedIn);

/// A [`Verified`] person whose committee is active, or a super admin; otherwise `ACCOUNT_NOT_VERIFIED_MESSAGE`, then
/// `COMMITTEE_INACTIVE_MESSAGE`.
#[derive(Debug, Clone)]
pub struct ActiveMember(pub SignedIn);

/// A verified super admin; otherwise `FORBIDDEN_MESSAGE`, then `ACCOUNT_NOT_VERIFIED_MESSAGE`. Their committee may be
/// inactive, because only super admins can activate it.
#[derive(Debug, Clone)]
pub struct SuperAdmin(pub SignedIn);

/// The result of the authentication.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// The request has no token.
    Anonymous,
    /// The token is invalid, or its session has ended.
    InvalidToken,
    /// The token and its session are valid.
    SignedIn(Arc<SignedIn>),
    /// The token is valid, and its session could not be loaded.
    StoreError(Arc<StoreError>),
}

/// The access token of a request, before its session is loaded.
pub(crate) enum BearerToken {
    Absent,
    Invalid,
    Valid(Box<Claims>, String),
}

impl BearerToken {
    /// Reads and verifies the token in the `Authorization` header.
    pub(crate) fn read(headers: &HeaderMap, verifier: &Verifier, now: Instant) -> Self {
        let Some(token) = bearer(headers) else {
            return Self::Absent;
        };
        verifier
            .verify(token, TokenUse::Access, now)
            .map_or(Self::Invalid, |claims| Self::Valid(Box::new(claims), token.to_owned()))
    }
}

/// The token in the `Authorization` header, without its scheme. `None` when the header is absent or repeated, or its
/// scheme is not Bearer (in any case).
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    token_of(value.to_str().ok()?)
}

/// The token in `authorization`, the value of such a header; `None` when its scheme is not Bearer. The scheme may stand
/// twice: tokens in bodies begin with it, and generated clients add it again.
pub fn token_of(authorization: &str) -> Option<&str> {
    let token = without_scheme(authorization.trim())?;
    Some(without_scheme(token).unwrap_or(token))
}

fn without_scheme(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start())
}

/// Loads callers by their access tokens, and remembers sessions that have ended.
#[derive(Clone)]
pub(crate) struct Authenticator {
    pub(crate) store: Store,
    pub(crate) verifier: Verifier,
    lifetimes: TokenLifetimes,
    ended: Arc<Mutex<HashSet<SessionId>>>,
}

/// Ended sessions that one process remembers; the set is cleared when it is full.
const MAX_ENDED: usize = 10_000;

impl Authenticator {
    pub(crate) fn new(store: Store, verifier: Verifier, lifetimes: TokenLifetimes) -> Self {
        Self { store, verifier, lifetimes, ended: Arc::default() }
    }

    /// Whether this process has seen that session `sid` has ended, which is final.
    pub(crate) fn has_ended(&self, sid: SessionId) -> bool {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).contains(&sid)
    }

    /// Loads session, user and committee in one BatchGetItem. The committee id comes from the token; if the account
    /// has moved since, its committee takes a second request, and so does a session that seems to have ended.
    pub(crate) async fn authenticate(&self, claims: Claims, token: String, now: Instant) -> Caller {
        let found = async {
            let (session, user, committee) =
                self.store.caller(claims.sub, claims.sid, claims.cid).await?;
            let valid = |session: Option<Session>, user: Option<User>| {
                let both = session.zip(user);
                both.filter(|(session, user)| session.is_valid(user, now))
            };
            let both = match valid(session, user) {
                Some(both) => Some(both),
                // Before a session is believed to have ended, it and its user are read as of one moment.
                None => {
                    let read = self.store.session_at_one_moment(claims.sub, claims.sid);
                    let (session, user) = read.await?;
                    valid(session, user)
                }
            };
            let Some((session, user)) = both else {
                return Ok(None);
            };
            let committee = self.store.committee_of(&user, claims.cid, committee).await?;
            Ok(Some((session, user, committee)))
        };
        match found.await {
            // Not remembered as ended: the session may have a newer token.
            Ok(Some((session, user, _)))
                if self.lifetimes.are_exceeded(&user, &session, &claims, now) =>
            {
                Caller::InvalidToken
            }
            Ok(Some((session, user, committee))) => {
                Caller::SignedIn(Arc::new(SignedIn { user, committee, session, claims, token }))
            }
            Ok(None) => {
                let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
                if ended.len() >= MAX_ENDED {
                    ended.clear();
                }
                ended.insert(claims.sid);
                Caller::InvalidToken
            }
            Err(error) => Caller::StoreError(Arc::new(error)),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Now {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // The edge always sets it.
        Ok(parts.extensions.get().copied().unwrap_or(Self(Instant::from_unix_milliseconds(0))))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match parts.extensions.get() {
            Some(Caller::SignedIn(person)) => Ok(Self::clone(person)),
            Some(Caller::InvalidToken) => Err(ApiError::invalid_token()),
            Some(Caller::StoreError(error)) => Err(lookup_error(error)),
            Some(Caller::Anonymous) | None => Err(ErrorCode::BadAuthCombination.into()),
        }
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, ApiError> {
        match parts.extensions.get() {
            Some(Caller::SignedIn(person)) => Ok(Some(Self::clone(person))),
            Some(Caller::StoreError(error)) => Err(lookup_error(error)),
            _ => Ok(None),
        }
    }
}

fn lookup_error(error: &StoreError) -> ApiError {
    match error {
        StoreError::Unexpected(cause) => StoreError::Unexpected(cause.clone()).into(),
        error => {
            StoreError::Unavailable(format!("the caller could not be looked up: {error}")).into()
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Verified {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        person.require_verified()?;
        Ok(Self(person))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ActiveMember {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Verified(person) = Verified::from_request_parts(parts, state).await?;
        person.require_active_committee()?;
        Ok(Self(person))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SuperAdmin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        if person.user.profile != Profile::SuperAdmin {
            return Err(ErrorCode::Forbidden.into());
        }
        person.require_verified()?;
        Ok(Self(person))
    }
}
