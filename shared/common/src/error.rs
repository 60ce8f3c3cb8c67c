//! Error responses: what a handler, an extractor or the edge returns instead of a success.

use std::{error::Error, time::Duration};

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;
use store::StoreError;

use crate::{
    ErrorCode, FieldError, InvalidValue,
    codes::whole_seconds,
    envelope::{Cause, Text, envelope},
};

/// Most elements of `errors`.
const MAX_ERRORS: usize = 100;

/// An error response. `?` converts an [`ErrorCode`], which the client sees, and any other error, which is logged once
/// while the client sees 500 or 503 without detail; [`StoreError::Full`] is a 429 and not logged. `ApiError` does not
/// implement [`Error`], so `?` cannot mistake one for the other.
#[derive(Debug)]
pub struct ApiError {
    code: ErrorCode,
    errors: Vec<FieldError>,
    /// An object with further fields of the body.
    data: Option<Box<Value>>,
    header: Option<Box<(HeaderName, HeaderValue)>>,
    /// After which time another attempt can succeed.
    wait: Option<Duration>,
    /// Logged and never sent.
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        let error =
            Self { code, errors: Vec::new(), data: None, header: None, wait: None, cause: None };
        if code == ErrorCode::BadAuthCombination {
            let challenge = HeaderValue::from_static("Bearer realm=\"halqa\"");
            error.header(header::WWW_AUTHENTICATE, challenge)
        } else {
            error
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ApiError {
    fn from(error: E) -> Self {
        let cause: Box<dyn Error + Send + Sync> = Box::new(error);
        let store = cause.downcast_ref::<StoreError>();
        if let Some(StoreError::Full { wait, .. }) = store {
            return Self::too_many_attempts(*wait);
        }
        let is_temporary = store.is_some_and(|error| !matches!(error, StoreError::Unexpected(_)))
            || cause.source().is_some_and(|source| source.is::<runtime::Unavailable>());
        let code = if is_temporary { ErrorCode::Unavailable } else { ErrorCode::Internal };
        Self { cause: Some(cause), ..code.into() }
    }
}

impl ApiError {
    /// 400 for invalid fields. The code of a single error is also the code of the response; of several it is
    /// `VALIDATION_ERROR_MESSAGE`.
    pub fn fields(errors: Vec<FieldError>) -> Self {
        let code = match errors.as_slice() {
            [only] => only.invalid.code,
            _ => ErrorCode::Validation,
        };
        Self::with_errors(code, errors)
    }

    /// `code` with the first hundred of `errors`; unlike [`fields`](Self::fields) it does not choose the code.
    pub fn with_errors(code: ErrorCode, mut errors: Vec<FieldError>) -> Self {
        errors.truncate(MAX_ERRORS);
        Self { errors, ..code.into() }
    }

    /// The code of the response.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// 400 for one invalid field.
    pub fn field(field: &str, invalid: impl Into<InvalidValue>) -> Self {
        Self::fields(vec![FieldError::new(field, invalid)])
    }

    /// 401 for a token that was sent and is invalid (RFC 6750 §3.1).
    pub fn invalid_token() -> Self {
        let challenge = HeaderValue::from_static("Bearer realm=\"halqa\", error=\"invalid_token\"");
        Self::from(ErrorCode::BadAuthCombination).header(header::WWW_AUTHENTICATE, challenge)
    }

    /// 429 of a security counter that is free again after `wait`.
    pub fn too_many_attempts(wait: Duration) -> Self {
        Self::retry_after(ErrorCode::TooManyAttempts, wait)
    }

    /// `code` with `Retry-After`: `wait` in whole seconds, rounded up. The text says it too, if it says to try again later.
    pub fn retry_after(code: ErrorCode, wait: Duration) -> Self {
        Self { wait: Some(wait), ..code.into() }
    }

    /// 405 with `Allow: {allow}`.
    pub(crate) fn method_not_allowed(allow: &str) -> Self {
        let error = Self::from(ErrorCode::MethodNotAllowed);
        match HeaderValue::from_str(allow) {
            Ok(allow) => error.header(header::ALLOW, allow),
            Err(_) => error,
        }
    }

    /// The same error with the fields of the object `data` in the body.
    #[must_use]
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(Box::new(data)), ..self }
    }

    fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some(Box::new((name, value))), ..self }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let text = match self.wait {
            Some(wait) => Text::with_wait(self.code, wait),
            None => self.code.into(),
        };
        // A field that names a missing object makes the request invalid; its own object is there.
        let status = match self.code.status() {
            StatusCode::NOT_FOUND if !self.errors.is_empty() => StatusCode::BAD_REQUEST,
            status => status,
        };
        let mut response = envelope(status, Some(text), self.data, &self.errors);
        response.extensions_mut().insert(self.code);
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        if let Some(wait) = self.wait {
            response.headers_mut().insert(header::RETRY_AFTER, whole_seconds(wait).into());
        }
        if let Some(cause) = self.cause {
            response.extensions_mut().insert(Cause(cause.to_string()));
        }
        response
    }
}
