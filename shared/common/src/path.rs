//! Extracts identifiers from paths.

use axum::extract::{FromRequestParts, RawPathParams};
use domain::{
    BatchId, CommitteeId, CourseId, FileId, PasskeyId, QuestionId, SessionId, SmsId, UserId,
};
use http::request::Parts;

use crate::{ApiError, caller::Caller};

/// Stands for the caller's id.
const ME: &str = "me";

/// Extracts the path parameters, one to three. Never rejects: a malformed identifier becomes one that no object has, so
/// that it is a 404 like an unknown one, after the checks of the caller and their rights. `me` as `userId` is the caller.
#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

/// A type that [`Path`] extracts.
pub trait InPath {
    /// Parses the path parameters `texts`, in their order. A missing or malformed one becomes an unused identifier.
    fn in_path(texts: &[&str]) -> Self;
}

macro_rules! in_path {
    ($($id:ident)*) => {$(impl InPath for $id {
        fn in_path(texts: &[&str]) -> Self {
            $id::or_none(texts.first().copied().unwrap_or_default())
        }
    })*};
}
in_path!(UserId BatchId CommitteeId CourseId FileId PasskeyId QuestionId SessionId SmsId);

impl<A: InPath, B: InPath> InPath for (A, B) {
    fn in_path(texts: &[&str]) -> Self {
        let (first, rest) = texts.split_at(texts.len().min(1));
        (A::in_path(first), B::in_path(rest))
    }
}

impl<A: InPath, B: InPath, C: InPath> InPath for (A, B, C) {
    fn in_path(texts: &[&str]) -> Self {
        let (first, (second, third)) = InPath::in_path(texts);
        (first, second, third)
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
        // `RawPathParams` rejects invalid percent-encoding: such a path is malformed like any other.
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let caller = match parts.extensions.get() {
            Some(Caller::SignedIn(person)) => person.user.user_id.to_string(),
            _ => ME.to_owned(),
        };
        let text = |(name, value)| if (name, value) == ("userId", ME) { &*caller } else { value };
        let texts: Vec<&str> = params.iter().flatten().map(text).collect();
        Ok(Self(T::in_path(&texts)))
    }
}
