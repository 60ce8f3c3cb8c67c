//! Identifiers in paths.

use axum::extract::{FromRequestParts, RawPathParams};
use domain::{BatchId, CommitteeId, CourseId, FileId, QuestionId, SessionId, SmsId, UserId};
use http::request::Parts;

use crate::ApiError;

/// The identifiers in the path, one or two. Never refuses: a text that is no identifier becomes one that
/// nothing has, so its 404 comes after every check that comes before the object's own 404.
#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

/// What stands in a path.
pub trait InPath {
    /// The identifiers that `texts` write, in their order; for each that is none, one that nothing has.
    fn in_path(texts: &[&str]) -> Self;
}

macro_rules! in_path {
    ($($id:ident)*) => {$(impl InPath for $id {
        fn in_path(texts: &[&str]) -> Self {
            $id::in_path(texts.first().copied().unwrap_or_default())
        }
    })*};
}
in_path!(UserId BatchId CommitteeId CourseId FileId SessionId SmsId);

impl InPath for (CourseId, QuestionId) {
    fn in_path(texts: &[&str]) -> Self {
        let text = |number: usize| texts.get(number).copied().unwrap_or_default();
        (CourseId::in_path(text(0)), QuestionId::in_path(text(1)))
    }
}

impl InPath for String {
    fn in_path(texts: &[&str]) -> Self {
        texts.concat()
    }
}

impl<T: InPath, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        // Invalid percent-encoding is refused by the extractor: that, too, is no identifier.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let texts: Vec<&str> = params.iter().flatten().map(|(_, value)| value).collect();
        Ok(Self(T::in_path(&texts)))
    }
}
