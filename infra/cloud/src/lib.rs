//! The embedded cloud: everything that answers as AWS and cPanel do, in one process. The functions use the real SDKs
//! with another endpoint and contain no code for it.

mod cloud;
pub mod conditions;
mod connections;
pub mod faults;
mod gate;
pub mod guard;
mod hold;
pub mod host;
mod parameters;
pub mod random;
pub mod recorder;
pub mod runtime_api;
mod signature;
pub mod strict;
mod tables;
pub mod uapi;

use std::fmt;

use bytes::Bytes;
pub use cloud::*;
pub use connections::next_connection;
pub use hold::Hold;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use runtime::ConfigError;
pub use tables::create_table_request;

/// The message of error responses that no service made: of injected faults and of the checks of access.
const REFUSED: &str = "refused by the local cloud";

/// A response with a body of the content type `kind`.
fn response(
    status: StatusCode,
    kind: &'static str,
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// An error of the local cloud, in one sentence for the developer.
pub struct LocalError(String);

impl LocalError {
    /// An error with the text `sentence`.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for LocalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The same text, because a `main` that returns this error prints `Debug`.
impl fmt::Debug for LocalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl std::error::Error for LocalError {}

impl From<ConfigError> for LocalError {
    fn from(problem: ConfigError) -> Self {
        Self(problem.to_string())
    }
}

impl From<store::StoreError> for LocalError {
    fn from(fault: store::StoreError) -> Self {
        Self(format!("The embedded store does not answer: {fault}."))
    }
}
