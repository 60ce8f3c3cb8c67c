//! Who may do what with the hosting account.

use axum::extract::FromRequestParts;
use common::{Failure, Refusal, SignedIn, able};
use domain::permissions::{Reach, Right};
use http::request::Parts;

/// A verified person who may look at the hosting account.
#[derive(Debug, Clone)]
pub(crate) struct Reader;

/// A verified person, of an open committee, who may change it.
#[derive(Debug, Clone)]
pub(crate) struct Writer(pub(crate) SignedIn);

impl<S: Send + Sync> FromRequestParts<S> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        if person.user.standing().reach(Right::ReadPanel) == Reach::Nowhere {
            return Err(Refusal::Forbidden.into());
        }
        person.must_be_verified()?;
        Ok(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Writer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        able(parts, state, Right::WritePanel).await.map(Self)
    }
}
