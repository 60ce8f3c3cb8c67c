//! Identifiers in paths.

use axum::extract::{FromRequestParts, RawPathParams};
use domain::{CommitteeId, SessionId, UserId};
use http::request::Parts;

use crate::Failure;

/// The identifier in the path. Never refuses: a text that is no identifier becomes one that
/// nothing has, so its 404 comes after every check that comes before the object's own 404.
#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

/// What stands in a path.
pub trait InPath {
    /// The identifier that `text` writes, or one that nothing has.
    fn in_path(text: &str) -> Self;
}

macro_rules! in_path {
    ($($id:ident)*) => {$(impl InPath for $id {
        fn in_path(text: &str) -> Self {
            $id::in_path(text)
        }
    })*};
}
in_path!(UserId CommitteeId SessionId);

impl InPath for String {
    fn in_path(text: &str) -> Self {
        text.to_owned()
    }
}

impl<T: InPath, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        // Invalid percent-encoding is refused by the extractor: that, too, is no identifier.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let first = params.as_ref().and_then(|params| params.iter().next());
        Ok(Self(T::in_path(first.map_or("", |(_, value)| value))))
    }
}
