//! Stores files in S3 and turns uploaded pictures into avatars.
//!
//! Methods of [`Bucket`] and [`Objects`] that send a request fail with [`StorageError::Unavailable`] when S3 does not respond,
//! responds with 429 or 5xx, or fails during a copy, and with [`StorageError::Rejected`] on any other error response.

pub mod avatar;
mod bucket;
mod form;
mod policy;
mod upload;

use std::{error::Error, fmt, time::Duration};

use aws_sdk_s3::{
    Client,
    config::{
        Builder, RequestChecksumCalculation, ResponseChecksumValidation, retry::RetryConfig,
        timeout::TimeoutConfig,
    },
    error::{ProvideErrorMetadata, SdkError},
};
use bytes::Bytes;
use runtime::{Aws, ConfigError, Settings, Unavailable};

pub use bucket::{Bucket, KEPT};
pub use form::Form;
pub use upload::{file_key, upload_key};

/// The time-out of one operation, the transfer of a hundred megabytes included.
pub const TIMEOUT: Duration = Duration::from_secs(7);
/// How long [`Objects::move_upload`] takes at most: four operations, one after the other.
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

/// What S3 tells about an object without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectHead {
    /// The size in bytes.
    pub size: u64,
    /// The entity tag, in quotation marks; it changes with the content.
    etag: String,
}

/// A client for the objects of the bucket. Clones share the connections.
#[derive(Clone)]
pub struct Objects {
    /// The requests without the SDK.
    pub bucket: Bucket,
    client: Client,
}

impl Objects {
    /// A client for the bucket that `FILES_BUCKET` names.
    ///
    /// # Errors
    /// When `FILES_BUCKET` is not set.
    pub fn new(aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        let (bucket, sdk) = (Bucket::new(aws, settings)?, aws.sdk());
        // What is not set here comes from `sdk`: attempts of less than a second.
        let timeouts =
            TimeoutConfig::builder().operation_attempt_timeout(TIMEOUT).operation_timeout(TIMEOUT);
        let config = Builder::from(sdk)
            .force_path_style(aws.endpoint().is_some())
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts.build());
        Ok(Self { client: Client::from_conf(config.build()), bucket })
    }

    /// The content of the object at `key`; `None` when S3 responds with 403 or 404
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html>).
    pub async fn get(&self, key: &str) -> Result<Option<Bytes>, StorageError> {
        let request = self.client.get_object().bucket(&self.bucket.name).key(key);
        let object = async {
            let object = match request.send().await {
                // Without `s3:ListBucket` S3 answers 403 for a missing object.
                Err(error) if matches!(status(&error), Some(403 | 404)) => return Ok(None),
                object => object?,
            };
            let body = object.body.collect().await.map_err(unavailable)?;
            Ok(Some(body.into_bytes()))
        };
        // The SDK's time-out does not cover the body.
        tokio::time::timeout(TIMEOUT, object)
            .await
            .unwrap_or_else(|_| Err(unavailable("the object was not received in time")))
    }

    /// Describes the object at `key`; `None` when it does not exist
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html>). The caller needs
    /// `s3:ListBucket`: S3 then responds with 404 for a missing object, so 403 is always an error.
    pub async fn head(&self, key: &str) -> Result<Option<ObjectHead>, StorageError> {
        let request = self.client.head_object().bucket(&self.bucket.name).key(key);
        let object = match request.send().await {
            Err(error) if status(&error) == Some(404) => return Ok(None),
            object => object?,
        };
        let length = object.content_length();
        let size = length.and_then(|length| u64::try_from(length).ok());
        match (size, object.e_tag) {
            (Some(size), Some(etag)) => Ok(Some(ObjectHead { size, etag })),
            _ => Err(rejected("the object has no content length or no ETag")),
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
