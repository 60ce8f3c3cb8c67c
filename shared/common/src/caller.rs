//! Who calls: from the token and the address to the proofs that stand in handlers' signatures.
//!
//! The edge has asked the store before the route is known, side by side with the limit, so these
//! extractors only look at what it found: the order of arguments is the order of checks.

use std::{
    collections::HashSet,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use domain::{
    Instant, Profile, SessionId,
    committee::Committee,
    session::Session,
    user::{Account, User},
};
use http::{HeaderMap, header, request::Parts};
use identity::token::{Claims, Use, Verifier};
use store::{Store, StoreError};

use crate::{ApiError, ErrorCode, Lives};

/// The one `now` of a request.
#[derive(Debug, Clone, Copy)]
pub struct Now(pub Instant);

/// A person with a session that is alive.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// The person.
    pub user: User,
    /// The committee that the person belongs to.
    pub committee: Committee,
    /// The session.
    pub session: Session,
    /// What the token says.
    pub claims: Claims,
    /// The token itself, without `Bearer`.
    pub token: String,
}

impl SignedIn {
    /// The person's account.
    pub fn account(&self) -> Account {
        Account::of(self.user.clone(), self.committee.clone())
    }

    /// Checks that the mailbox was proved, or an administrator vouched.
    ///
    /// # Errors
    /// `ACCOUNT_NOT_VERIFIED_MESSAGE`.
    pub fn must_be_verified(&self) -> Result<(), ErrorCode> {
        if self.user.is_verified {
            Ok(())
        } else {
            Err(ErrorCode::AccountNotVerified)
        }
    }
}

impl SignedIn {
    /// Checks that the person's committee is open; a super admin runs the service whatever becomes of
    /// his committee.
    ///
    /// # Errors
    /// `COMMITTEE_INACTIVE_MESSAGE`.
    pub fn must_be_of_open_committee(&self) -> Result<(), ErrorCode> {
        let may = self.committee.is_active || self.user.profile == Profile::SuperAdmin;
        if may {
            Ok(())
        } else {
            Err(ErrorCode::CommitteeInactive)
        }
    }
}

/// A [`SignedIn`] whose account is verified.
#[derive(Debug, Clone)]
pub struct Verified(pub SignedIn);

/// A [`Verified`] super admin. Not bound by his own committee's being closed, for only he can open it.
#[derive(Debug, Clone)]
pub struct SuperAdmin(pub SignedIn);

/// What the edge found out about the caller.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// No token was sent.
    Nobody,
    /// A token was sent and is no good.
    BadToken,
    /// A person.
    Person(Arc<SignedIn>),
    /// A token was sent and the store could not be asked about it.
    Unknown(Arc<StoreError>),
}

/// What a request's token says by itself.
pub(crate) enum Presented {
    Nothing,
    Rubbish,
    Good(Box<Claims>, String),
}

impl Presented {
    /// What the one `Authorization` header holds.
    pub(crate) fn read(headers: &HeaderMap, verifier: &Verifier, now: Instant) -> Self {
        let Some(token) = bearer(headers) else {
            return Self::Nothing;
        };
        verifier
            .verify(token, Use::Access, now)
            .map_or(Self::Rubbish, |claims| {
                Self::Good(Box::new(claims), token.to_owned())
            })
    }
}

/// The token in the one `Authorization` header. Of two, neither is read; a scheme other than Bearer
/// (in any case) is no token.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, token) = value.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Finds people by their tokens, and remembers sessions that it found dead.
#[derive(Clone)]
pub(crate) struct Doorkeeper {
    pub(crate) store: Store,
    pub(crate) verifier: Verifier,
    lives: Lives,
    dead: Arc<Mutex<HashSet<SessionId>>>,
}

/// No container remembers more dead sessions.
const MOST_DEAD: usize = 10_000;

impl Doorkeeper {
    pub(crate) fn new(store: Store, verifier: Verifier, lives: Lives) -> Self {
        Self {
            store,
            verifier,
            lives,
            dead: Arc::default(),
        }
    }

    /// Whether this container has found the session dead: it never comes back.
    pub(crate) fn knows_dead(&self, sid: SessionId) -> bool {
        self.dead
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&sid)
    }

    /// Session, user and committee in one request. The committee is read where the token says that
    /// it is, and again when the user says otherwise.
    pub(crate) async fn find(&self, claims: Claims, token: String, now: Instant) -> Caller {
        let found = async {
            let (session, user, committee) = self
                .store
                .caller(claims.sub, claims.sid, claims.cid)
                .await?;
            let (Some(session), Some(user)) = (session, user) else {
                return Ok(None);
            };
            if !session.is_alive(&user, now) {
                return Ok(None);
            }
            let committee = if user.committee_id == claims.cid {
                committee
            } else {
                self.store.committee(user.committee_id).await?
            };
            let committee = committee.ok_or_else(|| {
                StoreError::Unexpected("a user's committee is not there".to_owned())
            })?;
            Ok(Some((session, user, committee)))
        };
        match found.await {
            // The session may have a younger token.
            Ok(Some((session, user, _)))
                if self.lives.have_ended(&user, &session, &claims, now) =>
            {
                Caller::BadToken
            }
            Ok(Some((session, user, committee))) => Caller::Person(Arc::new(SignedIn {
                user,
                committee,
                session,
                claims,
                token,
            })),
            Ok(None) => {
                let mut dead = self.dead.lock().unwrap_or_else(PoisonError::into_inner);
                if dead.len() >= MOST_DEAD {
                    dead.clear();
                }
                dead.insert(claims.sid);
                Caller::BadToken
            }
            Err(error) => Caller::Unknown(Arc::new(error)),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Now {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // the edge has set it
        Ok(parts
            .extensions
            .get()
            .copied()
            .unwrap_or(Self(Instant::from_unix_milliseconds(0))))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match parts.extensions.get() {
            Some(Caller::Person(person)) => Ok(Self::clone(person)),
            Some(Caller::BadToken) => Err(ApiError::invalid_token()),
            Some(Caller::Unknown(error)) => Err(unknown(error)),
            Some(Caller::Nobody) | None => Err(ErrorCode::BadAuthCombination.into()),
        }
    }
}

/// On a public endpoint a bad token is ignored.
impl<S: Send + Sync> OptionalFromRequestParts<S> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, ApiError> {
        match parts.extensions.get() {
            Some(Caller::Person(person)) => Ok(Some(Self::clone(person))),
            Some(Caller::Unknown(error)) => Err(unknown(error)),
            _ => Ok(None),
        }
    }
}

fn unknown(error: &StoreError) -> ApiError {
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
        person.must_be_verified()?;
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
        person.must_be_verified()?;
        Ok(Self(person))
    }
}
