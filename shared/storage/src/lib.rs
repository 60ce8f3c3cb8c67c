//! Files and pictures in S3.

pub mod avatar;
mod form;
mod policy;

use std::{error::Error, fmt, time::Duration};

use aws_sdk_s3::{
    Client,
    config::{
        Builder, RequestChecksumCalculation, ResponseChecksumValidation, retry::RetryConfig,
        timeout::TimeoutConfig,
    },
    error::{ProvideErrorMetadata, SdkError},
    primitives::ByteStream,
};
use bytes::Bytes;
use domain::FileId;
use runtime::{Aws, ConfigError, Settings, Unavailable};

pub use form::Form;
use policy::PolicySigner;

/// The key of the file `id`, which its owner uploads and downloads by a presigned form and link.
pub fn key_of(id: FileId) -> String {
    format!("files/{id}")
}

/// The most that one operation takes, the transfer of a few megabytes included.
const TIMEOUT: Duration = Duration::from_secs(8);

/// Why the bucket did not do what was asked. Nothing in it is for clients.
#[derive(Debug)]
pub enum StorageError {
    /// S3 did not answer, or asked to be called again later.
    Unavailable(Unavailable),
    /// S3 refused, or the request makes no sense.
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
            SdkError::ServiceError(_) if !matches!(status, Some(429 | 500..)) => {
                Self::Rejected(cause)
            }
            _ => Self::Unavailable(Unavailable(cause)),
        }
    }
}

/// The objects of one bucket. Clones share the connections.
#[derive(Clone)]
pub struct Objects {
    client: Client,
    bucket: String,
    /// Where a form is posted.
    url: String,
    signer: PolicySigner,
}

impl Objects {
    /// The objects of the bucket that `FILES_BUCKET` names.
    ///
    /// # Errors
    /// When it is not set.
    pub fn new(aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        let bucket = settings.required("FILES_BUCKET")?;
        let sdk = aws.sdk();
        let region = sdk.region().map(ToString::to_string).unwrap_or_default();
        // An endpoint of our own has no host per bucket.
        let url = match sdk.endpoint_url() {
            Some(endpoint) => format!("{endpoint}/{bucket}/"),
            None => format!("https://{bucket}.s3.{region}.amazonaws.com/"),
        };
        let config = Builder::from(sdk)
            .force_path_style(sdk.endpoint_url().is_some())
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::builder().operation_timeout(TIMEOUT).build());
        Ok(Self {
            client: Client::from_conf(config.build()),
            bucket: bucket.to_owned(),
            url,
            signer: PolicySigner {
                credentials: aws.credentials().clone(),
                region,
            },
        })
    }

    /// Writes `bytes` to `key`, over whatever is there
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html>).
    ///
    /// # Errors
    /// When S3 refuses or is unavailable; when it is unavailable, the object may have been written.
    pub async fn put(
        &self,
        key: &str,
        content_type: &str,
        bytes: Bytes,
    ) -> Result<(), StorageError> {
        let request = self.client.put_object().bucket(&self.bucket).key(key);
        let request = request.content_type(content_type).body(bytes.into());
        request.send().await?;
        Ok(())
    }

    /// The object at `key`, if there is one
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html>).
    ///
    /// # Errors
    /// When S3 is unavailable.
    pub async fn get(&self, key: &str) -> Result<Option<Bytes>, StorageError> {
        let request = self.client.get_object().bucket(&self.bucket).key(key);
        let object = async {
            match request.send().await {
                // Without `s3:ListBucket` S3 answers 403 for a missing object.
                Err(error) if matches!(status(&error), Some(403 | 404)) => Ok(None),
                object => whole(object?.body).await.map(Some),
            }
        };
        // The SDK's time-out ends where the body begins.
        tokio::time::timeout(TIMEOUT, object)
            .await
            .unwrap_or_else(|_| {
                let cause = "the object did not come in time".to_owned();
                Err(StorageError::Unavailable(Unavailable(cause)))
            })
    }

    /// The size in bytes of the object at `key`, if there is one
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html>). The caller must have
    /// `s3:ListBucket`: S3 answers 404 for a missing object then, and 403 is always a error_code.
    ///
    /// # Errors
    /// When S3 refuses or is unavailable.
    pub async fn size(&self, key: &str) -> Result<Option<u64>, StorageError> {
        let request = self.client.head_object().bucket(&self.bucket).key(key);
        let object = match request.send().await {
            Err(error) if status(&error) == Some(404) => return Ok(None),
            object => object?,
        };
        let length = object
            .content_length()
            .and_then(|length| length.try_into().ok());
        length
            .map(Some)
            .ok_or_else(|| StorageError::Rejected("an object without a length".to_owned()))
    }

    /// Removes the object at `key`, if there is one
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html>).
    ///
    /// # Errors
    /// When S3 refuses or is unavailable.
    pub async fn delete(&self, key: &str) -> Result<(), StorageError> {
        let request = self.client.delete_object().bucket(&self.bucket).key(key);
        match request.send().await {
            Err(error) if status(&error) == Some(404) => Ok(()),
            deleted => Ok(deleted.map(drop)?),
        }
    }
}

/// The status of the response, if there was one.
fn status<E>(error: &SdkError<E>) -> Option<u16> {
    let response = error.raw_response()?;
    Some(response.status().as_u16())
}

async fn whole(body: ByteStream) -> Result<Bytes, StorageError> {
    let body = body.collect().await;
    body.map(|body| body.into_bytes())
        .map_err(|error| StorageError::Unavailable(Unavailable(error.to_string())))
}
