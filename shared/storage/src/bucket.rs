//! The objects of the bucket.

use std::{fmt, time::Duration};

use aws_sdk_s3::{
    Client,
    config::{
        Builder, RequestChecksumCalculation, ResponseChecksumValidation, retry::RetryConfig,
        timeout::TimeoutConfig,
    },
};
use bytes::Bytes;
use domain::Instant;
use runtime::{Aws, ConfigError, Settings};

use crate::{StorageError, TIMEOUT, policy::PolicySigner, rejected, status, unavailable};

/// How long the link to an export is valid.
const EXPORT_LIFE: Duration = Duration::from_secs(5 * 60);
/// `Cache-Control` of an object that never changes.
pub const KEPT: &str = "public, max-age=31536000, immutable";

/// What S3 tells about an object without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectHead {
    /// The size in bytes.
    pub size: u64,
    /// The entity tag, in quotation marks; it changes with the content.
    pub(crate) etag: String,
}

/// A client for the objects of the bucket. Clones share the connections.
#[derive(Clone)]
pub struct Bucket {
    pub(crate) client: Client,
    pub(crate) name: String,
    /// The URL that forms are posted to.
    pub(crate) url: String,
    pub(crate) signer: PolicySigner,
}

impl Bucket {
    /// A client for the bucket that `FILES_BUCKET` names.
    ///
    /// # Errors
    /// When `FILES_BUCKET` is not set.
    pub fn new(aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        let name = settings.required("FILES_BUCKET")?.to_owned();
        let region = aws.region().to_owned();
        // A custom endpoint has no host name per bucket.
        let url = match aws.endpoint() {
            Some(endpoint) => format!("{endpoint}/{name}/"),
            None => format!("https://{name}.s3.{region}.amazonaws.com/"),
        };
        // What is not set here comes from `aws`: attempts of less than a second.
        let timeouts =
            TimeoutConfig::builder().operation_attempt_timeout(TIMEOUT).operation_timeout(TIMEOUT);
        let config = Builder::from(aws.sdk())
            .force_path_style(aws.endpoint().is_some())
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts.build());
        let signer = PolicySigner { credentials: aws.credentials().clone(), region };
        Ok(Self { client: Client::from_conf(config.build()), name, url, signer })
    }

    /// The content of the object at `key`; `None` when S3 responds with 403 or 404
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html>).
    pub async fn get(&self, key: &str) -> Result<Option<Bytes>, StorageError> {
        let request = self.client.get_object().bucket(&self.name).key(key);
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
        let request = self.client.head_object().bucket(&self.name).key(key);
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

    /// Writes `bytes` to `key`, which S3 serves with `cache_control`, and overwrites an existing object
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html>). After
    /// [`StorageError::Unavailable`] the object may have been written.
    pub async fn put(
        &self,
        key: &str,
        content_type: &str,
        cache_control: Option<&str>,
        bytes: Bytes,
    ) -> Result<(), StorageError> {
        let request = self.client.put_object().bucket(&self.name).key(key).body(bytes.into());
        let request =
            request.content_type(content_type).set_cache_control(cache_control.map(str::to_owned));
        request.send().await?;
        Ok(())
    }

    /// Deletes the object at `key`; succeeds when there is none
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html>).
    pub async fn delete(&self, key: &str) -> Result<(), StorageError> {
        match self.client.delete_object().bucket(&self.name).key(key).send().await {
            Err(error) if status(&error) == Some(404) => Ok(()),
            deleted => Ok(deleted.map(drop)?),
        }
    }

    /// Writes `bytes` below `exports/` under the random `id`, and signs a link by which they are downloaded as `name`. Returns
    /// the link and its end, five minutes after `now`. A rule of the bucket deletes the object within two days.
    pub async fn export(
        &self,
        id: impl fmt::Display,
        name: &str,
        content_type: &str,
        bytes: Bytes,
        now: Instant,
    ) -> Result<(String, Instant), StorageError> {
        let key = format!("exports/{id}");
        self.put(&key, content_type, None, bytes).await?;
        let url = self.link(&key, name, content_type, EXPORT_LIFE, now).await?;
        Ok((url, now.after(EXPORT_LIFE)))
    }
}
