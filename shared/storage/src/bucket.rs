//! What needs signed requests alone, without the SDK's crate for S3, which is 0.4 MB of a function's package.

use std::{fmt, time::Duration};

use bytes::Bytes;
use domain::Instant;
use http::{
    Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use runtime::{Aws, Clock, ConfigError, Settings};

use crate::{StorageError, TIMEOUT, policy::PolicySigner, rejected, unavailable};

/// How long the link to an export is valid.
const EXPORT_LIFE: Duration = Duration::from_secs(5 * 60);
/// `Cache-Control` of an object that never changes.
pub const KEPT: &str = "public, max-age=31536000, immutable";

/// Writes and deletes objects, and signs forms and links. Keys consist of letters, digits and `/.-`. Clones share the
/// connections.
#[derive(Clone)]
pub struct Bucket {
    pub(crate) aws: Aws,
    pub(crate) name: String,
    /// The URL that forms are posted to, which those of the objects begin with.
    pub(crate) url: String,
    pub(crate) signer: PolicySigner,
}

impl Bucket {
    /// The bucket that `FILES_BUCKET` names.
    ///
    /// # Errors
    /// When `FILES_BUCKET` is not set.
    pub fn new(aws: &Aws, settings: &Settings) -> Result<Self, ConfigError> {
        let (name, region) =
            (settings.required("FILES_BUCKET")?.to_owned(), aws.region().to_owned());
        // A custom endpoint has no host name per bucket.
        let url = match aws.endpoint() {
            Some(endpoint) => format!("{endpoint}/{name}/"),
            None => format!("https://{name}.s3.{region}.amazonaws.com/"),
        };
        let signer = PolicySigner { credentials: aws.credentials().clone(), region };
        Ok(Self { aws: aws.clone(), name, url, signer })
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
        let mut request = self.request(Method::PUT, key).header(CONTENT_TYPE, content_type);
        if let Some(cache_control) = cache_control {
            request = request.header(CACHE_CONTROL, cache_control);
        }
        succeeded(&self.send(request.body(bytes).map_err(rejected)?).await?)
    }

    /// Deletes the object at `key`; succeeds when there is none
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html>).
    pub async fn delete(&self, key: &str) -> Result<(), StorageError> {
        let request = self.request(Method::DELETE, key).body(Bytes::new()).map_err(rejected)?;
        let response = self.send(request).await?;
        if response.status() == StatusCode::NOT_FOUND { Ok(()) } else { succeeded(&response) }
    }

    /// Writes `bytes` below `exports/` under the random `id`, and signs a link by which they are downloaded as `name`. Returns
    /// the link and its end, five minutes after `now`. A rule of the bucket deletes the object within two days.
    pub async fn export(
        &self,
        id: impl fmt::Display,
        (name, content_type): (&str, &str),
        bytes: Bytes,
        now: Instant,
    ) -> Result<(String, Instant), StorageError> {
        let key = format!("exports/{id}");
        self.put(&key, content_type, None, bytes).await?;
        let url = self.link(&key, name, content_type, EXPORT_LIFE, now)?;
        Ok((url, now.after(EXPORT_LIFE)))
    }

    /// A request for the object at `key`.
    pub(crate) fn request(&self, method: Method, key: &str) -> http::request::Builder {
        Request::builder().method(method).uri(format!("{}{key}", self.url))
    }

    /// Signs `request`, as the SDK does with the time of the machine, and sends it once.
    async fn send(&self, mut request: Request<Bytes>) -> Result<Response<Bytes>, StorageError> {
        let now = Clock::default().now();
        self.aws.sign("s3", &mut request, None, now).map_err(rejected)?;
        self.aws.fetch(request, TIMEOUT).await.map_err(unavailable)
    }
}

fn succeeded(response: &Response<Bytes>) -> Result<(), StorageError> {
    let status = response.status();
    match status.as_u16() {
        200..=299 => Ok(()),
        429 | 500.. => Err(unavailable(status)),
        _ => Err(rejected(status)),
    }
}
