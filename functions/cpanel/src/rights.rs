//! Who may do what with the hosting account.

use axum::extract::FromRequestParts;
use common::{Failure, SignedIn, able, able_to_see};
use domain::permissions::Right;
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
        able_to_see(parts, state, Right::ReadPanel)
            .await
            .map(|_| Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Writer {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        able(parts, state, Right::WritePanel).await.map(Self)
    }
}
