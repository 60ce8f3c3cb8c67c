//! Stores files in S3 and turns uploaded pictures into avatars.
//!
//! Methods of [`Bucket`] that send a request fail with [`StorageError::Unavailable`] when S3 does not respond,
//! responds with 429 or 5xx, or fails during a copy, and with [`StorageError::Rejected`] on any other error response.

pub mod avatar;
mod bucket;
mod form;
mod policy;
mod upload;

use std::{error::Error, fmt, time::Duration};

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use runtime::Unavailable;

pub use bucket::{Bucket, KEPT, ObjectHead};
pub use form::{Form, content_disposition};
pub use upload::{file_key, upload_key};

/// The time-out of one operation, the transfer of a hundred megabytes included.
pub const TIMEOUT: Duration = Duration::from_secs(7);
/// How long [`Bucket::move_upload`] takes at most: four operations, one after the other.
pub const MOVE_TIME: Duration = TIMEOUT.saturating_mul(4);
/// How long an export is read and written before it is stored.
pub const EXPORT_TIME: Duration = Duration::from_secs(20);

/// Why an operation on the bucket failed. The texts are for logs, not for clients.
#[derive(Debug)]
pub enum StorageError {
    /// No response from S3, or one that allows a retry.
    Unavailable(Unavailable),
    /// Any other error response, or a request that is invalid.
    Rejected(String),
}

impl fmt::Display for StorageError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(cause) => write!(out, "S3: {cause}"),
            Self::Rejected(cause) => write!(out, "S3 rejected a request: {cause}"),
        }
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unavailable(cause) => Some(cause),
            Self::Rejected(_) => None,
        }
    }
}

impl<E: Error + ProvideErrorMetadata + 'static> From<SdkError<E>> for StorageError {
    fn from(error: SdkError<E>) -> Self {
        let cause = runtime::cause(&error);
        let status = status(&error);
        match error {
            SdkError::ConstructionFailure(_) => Self::Rejected(cause),
            // An error that occurs during a copy is in a 200 response.
            SdkError::ServiceError(_) if !matches!(status, Some(200 | 429 | 500..)) => {
                Self::Rejected(cause)
            }
            _ => unavailable(cause),
        }
    }
}

fn unavailable(cause: impl ToString) -> StorageError {
    StorageError::Unavailable(Unavailable(cause.to_string()))
}

fn rejected(cause: impl ToString) -> StorageError {
    StorageError::Rejected(cause.to_string())
}

fn status<E>(error: &SdkError<E>) -> Option<u16> {
    let response = error.raw_response()?;
    Some(response.status().as_u16())
}
