//! Presigned requests: clients upload to the bucket and download from it directly, so no file passes
//! through a function.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use aws_sdk_s3::presigning::PresigningConfig;
use domain::Instant;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::json;

use crate::{Bucket, StorageError, rejected};

/// Media types that a browser may display; all others are downloaded. None of these can run scripts.
const INLINE_TYPES: [&str; 4] = ["application/pdf", "image/jpeg", "image/png", "image/webp"];
/// The most characters of a file name; the rest is cut off.
const MAX_NAME: usize = 255;

/// A presigned form that uploads one file to the bucket
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html>). The client posts
/// `multipart/form-data` to `url` with all `fields` and, last, the file as `file`. S3 responds with 204.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Form {
    /// The URL to post to.
    pub url: String,
    /// The form fields to send before the file, by name.
    pub fields: BTreeMap<String, String>,
}

impl Bucket {
    /// Presigns an upload of a file of exactly `size` bytes to `key`. The form can be used repeatedly until
    /// `valid_for` has passed; each use overwrites the object. S3 stores `content_type` without checking the
    /// content against it.
    pub fn form(
        &self,
        key: &str,
        content_type: &str,
        size: u64,
        valid_for: Duration,
        now: Instant,
    ) -> Form {
        let conditions = vec![
            json!({ "bucket": self.name }),
            json!({ "key": key }),
            json!({ "Content-Type": content_type }),
            json!(["content-length-range", size, size]),
        ];
        let mut fields = self.signer.fields(conditions, valid_for, now);
        fields.insert("key".to_owned(), key.to_owned());
        fields.insert("Content-Type".to_owned(), content_type.to_owned());
        Form { url: self.url.clone(), fields }
    }

    /// Presigns a download of the object at `key` as a file called `name` of type `content_type`, until
    /// `valid_for` has passed
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax>).
    ///
    /// # Errors
    /// [`StorageError::Rejected`] when `valid_for` is longer than a week.
    pub async fn link(
        &self,
        key: &str,
        name: &str,
        content_type: &str,
        valid_for: Duration,
        now: Instant,
    ) -> Result<String, StorageError> {
        let config = PresigningConfig::builder()
            .start_time(SystemTime::from(now.timestamp()))
            .expires_in(valid_for);
        let request = self.client.get_object().bucket(&self.name).key(key);
        let request = request
            .response_content_disposition(content_disposition(name, content_type))
            .response_content_type(content_type)
            .presigned(config.build().map_err(rejected)?);
        Ok(request.await?.uri().to_owned())
    }
}

/// The characters that RFC 8187 percent-encodes: all but `attr-char`.
const NOT_ATTR_CHAR: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The `Content-Disposition` header of the file `name` (<https://www.rfc-editor.org/rfc/rfc6266>): the name in ASCII for
/// clients that support nothing else, then the full name (<https://www.rfc-editor.org/rfc/rfc8187>). Browsers may display
/// pictures and PDF files, and download all others.
pub fn content_disposition(name: &str, content_type: &str) -> String {
    let kind = if INLINE_TYPES.contains(&content_type) { "inline" } else { "attachment" };
    let name = file_name(name);
    let ascii = name.replace(|c: char| !matches!(c, ' '..='~') || matches!(c, '"' | '%'), "_");
    let whole = utf8_percent_encode(&name, NOT_ATTR_CHAR);
    format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{whole}")
}

/// `name` without path separators, control characters and bidirectional overrides, which display `gpj.exe` as
/// `exe.jpg`.
fn file_name(name: &str) -> String {
    let is_unsafe = |c: char| {
        c.is_control()
            || matches!(c, '/' | '\\' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let name: String =
        name.trim().chars().take(MAX_NAME).map(|c| if is_unsafe(c) { '_' } else { c }).collect();
    if name.is_empty() { "file".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
