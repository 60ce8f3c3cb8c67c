//! Extractors that check the caller's right, so that a handler's signature names the right it requires.

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

/// A signed-in, verified person with the right `R`, at least over their own objects: may read.
///
/// The extractor rejects with `FORBIDDEN_MESSAGE`, then `ACCOUNT_NOT_VERIFIED_MESSAGE`.
#[derive(Debug, Clone)]
pub struct Viewer<R> {
    /// The caller.
    pub person: SignedIn,
    right: PhantomData<R>,
}

/// A [`Viewer`] whose committee is active, or a super admin: may write.
///
/// The extractor rejects as that of [`Viewer`], then with `COMMITTEE_INACTIVE_MESSAGE`.
#[derive(Debug, Clone)]
pub struct Permitted<R> {
    /// The caller.
    pub person: SignedIn,
    right: PhantomData<R>,
}

impl<R: RightType> Viewer<R> {
    /// The scope of the right: own objects, the committee's, or all.
    pub fn reach(&self) -> Reach {
        self.person.user.rights().reach(R::RIGHT)
    }
}

impl<R: RightType, S: Send + Sync> FromRequestParts<S> for Viewer<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        let viewer = Self { person, right: PhantomData };
        if viewer.reach() == Reach::Nowhere {
            return Err(ErrorCode::Forbidden.into());
        }
        viewer.person.require_verified()?;
        Ok(viewer)
    }
}

impl<R: RightType, S: Send + Sync> FromRequestParts<S> for Permitted<R> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Viewer { person, right } = Viewer::<R>::from_request_parts(parts, state).await?;
        person.require_active_committee()?;
        Ok(Self { person, right })
    }
}
