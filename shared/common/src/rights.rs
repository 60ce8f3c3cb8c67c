//! Rights as types: what an endpoint needs stands in its handler's signature.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use domain::permissions::{Reach, Right};
use http::request::Parts;

use crate::{ApiError, ErrorCode, SignedIn};

/// A [`Right`] as a type.
pub trait RightType {
    /// The right.
    const RIGHT: Right;
}

macro_rules! rights {
    ($($name:ident)*) => {$(
        #[doc = concat!("[`Right::", stringify!($name), "`].")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl RightType for $name {
            const RIGHT: Right = Right::$name;
        }
    )*};
}
rights!(ManageSms ManageUsers PublishCourses ReadAudit ReadPanel SendBulkSms SendSms WriteCourses WritePanel);

/// A verified person who has the right `R`, at least over what is their own, and may look at something.
///
/// ApiError with `FORBIDDEN_MESSAGE`, then `ACCOUNT_NOT_VERIFIED_MESSAGE`.
#[derive(Debug, Clone)]
pub struct Viewer<R> {
    /// The person.
    pub person: SignedIn,
    right: PhantomData<R>,
}

/// A [`Viewer`] of an open committee, who may change something; else `COMMITTEE_INACTIVE_MESSAGE`.
#[derive(Debug, Clone)]
pub struct Permitted<R> {
    /// The person.
    pub person: SignedIn,
    right: PhantomData<R>,
}

impl<R: RightType> Viewer<R> {
    /// How far the right reaches.
    pub fn reach(&self) -> Reach {
        self.person.user.standing().reach(R::RIGHT)
    }
}

impl<R: RightType, S: Send + Sync> FromRequestParts<S> for Viewer<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        let viewer = Self {
            person,
            right: PhantomData,
        };
        if viewer.reach() == Reach::Nowhere {
            return Err(ErrorCode::Forbidden.into());
        }
        viewer.person.must_be_verified()?;
        Ok(viewer)
    }
}

impl<R: RightType, S: Send + Sync> FromRequestParts<S> for Permitted<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Viewer { person, right } = Viewer::<R>::from_request_parts(parts, state).await?;
        person.must_be_of_open_committee()?;
        Ok(Self { person, right })
    }
}
