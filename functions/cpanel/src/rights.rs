//! Who may do what with the hosting account.

use axum::extract::FromRequestParts;
use common::{Failure, Refusal, SignedIn};
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
        able(parts, state, Right::ReadPanel).await.map(|_| Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Writer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let person = able(parts, state, Right::WritePanel).await?;
        person.must_be_of_open_committee()?;
        Ok(Self(person))
    }
}

async fn able<S: Send + Sync>(parts: &mut Parts, state: &S, right: Right) -> Result<SignedIn, Failure> {
    let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
    if person.user.standing().reach(right) == Reach::Nowhere {
        return Err(Refusal::Forbidden.into());
    }
    person.must_be_verified()?;
    Ok(person)
}
