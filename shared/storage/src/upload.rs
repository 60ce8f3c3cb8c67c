//! The objects of a file: the one that its form uploads, and the one that links to it lead to.

use domain::FileId;

use crate::{Bucket, StorageError, status, unavailable};

/// The key that the form of the file `id` names. Objects at such keys are never served; the bucket's lifecycle
/// removes those that remain.
pub fn upload_key(id: FileId) -> String {
    format!("uploads/{id}")
}

/// The key that links to the file `id` lead to. No form names it.
pub fn file_key(id: FileId) -> String {
    format!("files/{id}")
}

impl Bucket {
    /// Moves the upload of the file `id` to [`file_key`], if it has `size` bytes, and returns whether [`file_key`] has
    /// an object of `size` bytes then. The object there is written once: neither a concurrent or repeated call nor
    /// an upload after the first call replaces it. After an error, call again.
    ///
    /// # Errors
    /// Also [`StorageError::Unavailable`] when the upload was replaced during the call.
    pub async fn move_upload(&self, id: FileId, size: u64) -> Result<bool, StorageError> {
        let (upload, file) = (upload_key(id), file_key(id));
        let object = self.head(&upload).await?.filter(|head| head.size == size);
        let is_copied = match &object {
            Some(object) => self.copy(&upload, &object.etag, &file).await?,
            None => false,
        };
        // If not, another call may have done it.
        if !is_copied && self.head(&file).await?.is_none_or(|head| head.size != size) {
            if object.is_none() {
                return Ok(false);
            }
            return Err(unavailable("the upload was replaced while it was moved"));
        }
        self.delete(&upload).await?;
        Ok(true)
    }

    /// Deletes the upload of the file `id`, then the object at [`file_key`]; in this order, because a copy that begins
    /// after the second deletion would last. Succeeds when there are none.
    pub async fn delete_file(&self, id: FileId) -> Result<(), StorageError> {
        self.delete(&upload_key(id)).await?;
        self.delete(&file_key(id)).await
    }

    /// Copies the object at `from` that has the ETag `etag`, with its content type, to `to`; `false` when `from` has
    /// no such object, or `to` has one already
    /// (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html>,
    /// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html>).
    async fn copy(&self, from: &str, etag: &str, to: &str) -> Result<bool, StorageError> {
        let request = self.client.copy_object().bucket(&self.name).key(to);
        let request = request
            .copy_source(format!("{}/{from}", self.name))
            .copy_source_if_match(etag)
            .if_none_match("*");
        match request.send().await {
            // 409: `to` was deleted during the copy.
            Err(error) if matches!(status(&error), Some(404 | 409 | 412)) => Ok(false),
            copied => Ok(copied.map(|_| true)?),
        }
    }
}
