//! Files and pictures in S3, reached by signed requests of our own: the service needs a few operations,
//! and the SDK's crate for them would be the largest of a binary.

pub mod avatar;
mod form;

use std::time::Duration;

use bytes::Bytes;
use domain::{FileId, Instant};
use http::{Method, Request, StatusCode, header};
use runtime::{Answer, Aws, BadSetting, Fault};

pub use form::Form;

/// Where the file `id` lies, which its owner sends and fetches by himself, with our leave.
pub fn key_of(id: FileId) -> String {
    format!("files/{id}")
}

/// An object of a few megabytes is on its way for no longer than this.
const PATIENCE: Duration = Duration::from_secs(8);

/// The objects of the one bucket. Cloning shares the connections.
#[derive(Clone)]
pub struct Objects {
    aws: Aws,
    bucket: String,
    url: String,
}

impl Objects {
    /// The objects of `bucket`.
    ///
    /// # Errors
    /// When `FILES_BUCKET` is not set.
    pub fn new(aws: Aws, bucket: Option<&str>) -> Result<Self, BadSetting> {
        let bucket = bucket.ok_or_else(|| BadSetting::new("FILES_BUCKET", "is missing"))?;
        let url = aws.bucket_url(bucket);
        Ok(Self {
            aws,
            bucket: bucket.to_owned(),
            url,
        })
    }

    /// Keeps `bytes` at `key`, whatever stood there
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html>).
    ///
    /// # Errors
    /// When the bucket is out of reach; then it may have been kept.
    pub async fn put(
        &self,
        key: &str,
        content_type: &str,
        bytes: Bytes,
        now: Instant,
    ) -> Result<(), Fault> {
        let request = Request::put(self.at(key))
            .header(header::CONTENT_TYPE, content_type)
            .body(bytes);
        accepted(&self.send(request, now).await?)
    }

    /// The object at `key`, if there is one
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html>).
    ///
    /// # Errors
    /// When the bucket is out of reach.
    pub async fn get(&self, key: &str, now: Instant) -> Result<Option<Bytes>, Fault> {
        let answer = self
            .send(Request::get(self.at(key)).body(Bytes::new()), now)
            .await?;
        // Without the right to list, a missing object is told as forbidden.
        if [StatusCode::NOT_FOUND, StatusCode::FORBIDDEN].contains(&answer.status) {
            return Ok(None);
        }
        accepted(&answer).map(|()| Some(answer.body))
    }

    /// How many bytes the object at `key` has, if there is one
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html>). Who asks has the right to list:
    /// a missing object is told as missing then, and a refusal is never taken for it.
    ///
    /// # Errors
    /// When the bucket is out of reach, or refuses.
    pub async fn size(&self, key: &str, now: Instant) -> Result<Option<u64>, Fault> {
        let answer = self
            .send(Request::head(self.at(key)).body(Bytes::new()), now)
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        accepted(&answer)?;
        let length = answer
            .headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse().ok());
        length
            .map(Some)
            .ok_or_else(|| Fault::Broken("an object without a length".to_owned()))
    }

    /// Removes the object at `key`, if there is one
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html>).
    ///
    /// # Errors
    /// When the bucket is out of reach.
    pub async fn delete(&self, key: &str, now: Instant) -> Result<(), Fault> {
        let answer = self
            .send(
                Request::builder()
                    .method(Method::DELETE)
                    .uri(self.at(key))
                    .body(Bytes::new()),
                now,
            )
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            Ok(())
        } else {
            accepted(&answer)
        }
    }

    /// Keys are ours: letters, digits, `-`, `.`, `_` and `/`, which a URL takes as they are.
    fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.url)
    }

    async fn send(
        &self,
        request: http::Result<Request<Bytes>>,
        now: Instant,
    ) -> Result<Answer, Fault> {
        let request = request.map_err(|error| Fault::Broken(error.to_string()))?;
        Ok(self.aws.send("s3", request, PATIENCE, now).await?)
    }
}

fn accepted(answer: &Answer) -> Result<(), Fault> {
    let cause = || format!("status {}", answer.status.as_u16());
    match answer.status {
        status if status.is_success() => Ok(()),
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            Err(Fault::Unavailable(cause()))
        }
        _ => Err(Fault::Broken(cause())),
    }
}
