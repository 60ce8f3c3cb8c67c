//! Presigned requests, by which a client sends one file to the bucket or fetches one from it itself:
//! no file has to fit through a function.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use aws_sdk_s3::presigning::PresigningConfig;
use domain::Instant;
use http::HeaderValue;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::json;

use crate::{Objects, StorageError};

/// Nothing is signed for longer.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
/// Kinds that a browser may show at once; every other is kept as a file. None of them runs anything.
const SHOWN: [&str; 4] = ["application/pdf", "image/jpeg", "image/png", "image/webp"];
/// What comes after this many letters of a file's name is left out.
const LONGEST_NAME: usize = 255;

/// A form by which one file can be sent to the bucket
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html>): `multipart/form-data` to `url`
/// with all `fields` and, last, the file as `file`. S3 answers 204.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Form {
    /// Where it is sent to.
    pub url: String,
    /// What is sent before the file.
    pub fields: BTreeMap<String, String>,
}

impl Objects {
    /// The form by which a client puts a file of exactly `size` bytes and of this type at `key`, over
    /// whatever is there and as often as it likes until `valid_for` has passed. S3 does not look into
    /// the file: its type is what the form says.
    ///
    /// # Errors
    /// When `valid_for` is not between a second and a week.
    pub fn form(
        &self,
        key: &str,
        content_type: &str,
        size: u64,
        valid_for: Duration,
        now: Instant,
    ) -> Result<Form, StorageError> {
        let conditions = vec![
            json!({ "bucket": self.bucket }),
            json!({ "key": key }),
            json!({ "Content-Type": content_type }),
            json!(["content-length-range", size, size]),
        ];
        let mut fields = self.signer.fields(conditions, checked(valid_for)?, now);
        fields.insert("key".to_owned(), key.to_owned());
        fields.insert("Content-Type".to_owned(), content_type.to_owned());
        Ok(Form {
            url: self.url.clone(),
            fields,
        })
    }

    /// The link by which a client fetches the object at `key` until `valid_for` has passed, as a file
    /// called `name` of this type
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html#API_GetObject_RequestSyntax>).
    ///
    /// # Errors
    /// When `content_type` cannot stand in a header, or `valid_for` is not between a second and a week.
    pub async fn link(
        &self,
        key: &str,
        name: &str,
        content_type: &str,
        valid_for: Duration,
        now: Instant,
    ) -> Result<String, StorageError> {
        let rejected = |cause: String| StorageError::Rejected(cause);
        HeaderValue::from_str(content_type).map_err(|error| rejected(error.to_string()))?;
        let presigning = PresigningConfig::builder()
            .start_time(SystemTime::from(now.timestamp()))
            .expires_in(checked(valid_for)?)
            .build()
            .map_err(|error| rejected(error.to_string()))?;
        let request = self.client.get_object().bucket(&self.bucket).key(key);
        let link = request
            .response_content_disposition(disposition(name, content_type))
            .response_content_type(content_type)
            .presigned(presigning)
            .await?;
        Ok(link.uri().to_owned())
    }
}

fn checked(valid_for: Duration) -> Result<Duration, StorageError> {
    if (Duration::from_secs(1)..=WEEK).contains(&valid_for) {
        Ok(valid_for)
    } else {
        let cause = "a signature is valid for a second to a week".to_owned();
        Err(StorageError::Rejected(cause))
    }
}

/// What RFC 8187 escapes: everything but `attr-char`.
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

/// How a browser treats a file, and what it calls it (<https://www.rfc-editor.org/rfc/rfc6266>): the name in
/// ASCII for clients that read no other, then the whole name (<https://www.rfc-editor.org/rfc/rfc8187>).
fn disposition(name: &str, content_type: &str) -> String {
    let kind = if SHOWN.contains(&content_type) {
        "inline"
    } else {
        "attachment"
    };
    let name = file_name(name);
    let ascii = name.replace(
        |letter: char| !matches!(letter, ' '..='~') || matches!(letter, '"' | '%'),
        "_",
    );
    let whole = utf8_percent_encode(&name, NOT_ATTR_CHAR);
    format!("{kind}; filename=\"{ascii}\"; filename*=UTF-8''{whole}")
}

/// `name` without what leads to another folder, controls anything or turns the reading direction, by which
/// `gpj.exe` looks like `exe.jpg`.
fn file_name(name: &str) -> String {
    let is_odd = |letter: char| {
        letter.is_control()
            || matches!(letter, '/' | '\\' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let name: String = name
        .trim()
        .chars()
        .take(LONGEST_NAME)
        .map(|letter| if is_odd(letter) { '_' } else { letter })
        .collect();
    if name.is_empty() {
        "file".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests;
