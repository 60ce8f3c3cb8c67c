//! Files of users, and avatars. Files do not pass through this function: clients upload them to the bucket with a
//! presigned form and download them with a presigned link.

mod complete;
mod create;
mod media;
mod my_files;
mod public;
mod remove;
mod show;

use std::time::Duration;

use common::{ApiError, Cursors, ErrorCode, Routes};
use domain::{
    FileId, Instant, UserId,
    file::{File, FileView},
};
use identity::outbox::OutboxSealer;
use runtime::{ConfigError, Key};
use serde::Serialize;
use storage::{Bucket, file_key};
use store::{Setup, Store};

/// The keys that `files` reads at start.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Outbox, Key::Cursor];

/// The bucket, the tables and the limits that the handlers use.
#[derive(Clone)]
pub(crate) struct Files {
    store: Store,
    bucket: Bucket,
    cursors: Cursors,
    outbox: OutboxSealer,
    max_bytes: u64,
    quota_bytes: u64,
}

/// The routes below `/files` and `/media`.
///
/// # Errors
/// When `FILES_BUCKET` or the key of the cursors is missing or malformed, or a limit is not a number.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let settings = &setup.settings;
    let files = Files {
        store: setup.store.clone(),
        bucket: Bucket::new(&setup.aws, settings)?,
        cursors: setup.keys.parse(Key::Cursor)?,
        outbox: setup.keys.parse(Key::Outbox)?,
        max_bytes: settings.number("FILE_MAX_BYTES", 100_000_000)?,
        quota_bytes: settings.number("FILE_QUOTA_BYTES", 1_000_000_000)?,
    };
    Ok(Routes::default()
        .get("/media/{key}", media::show)
        .post("/files", create::create)
        .get("/files/my-files", my_files::list)
        .get("/files/public/{fileId}", public::show)
        .get("/files/{fileId}", show::show)
        .delete("/files/{fileId}", remove::remove)
        .post("/files/{fileId}/complete", complete::complete)
        .no_store("/files")
        .unprefixed("/media/")
        .with_state(files))
}

#[derive(Serialize)]
pub(crate) struct FileResponse {
    file: FileView,
}

impl Files {
    /// The file `id`, or `FILE_NOT_FOUND_MESSAGE` when it does not belong to `owner`.
    async fn own_file(&self, id: FileId, owner: UserId) -> Result<File, ApiError> {
        Ok(self
            .store
            .file(id)
            .await?
            .filter(|file| file.user_id == owner)
            .ok_or(ErrorCode::FileNotFound)?)
    }

    /// A link that downloads `file` until `valid_for` has passed.
    async fn link(
        &self,
        file: &File,
        valid_for: Duration,
        now: Instant,
    ) -> Result<String, ApiError> {
        let (key, name, kind) = (file_key(file.file_id), &file.name, file.content_type.code());
        Ok(self.bucket.link(&key, name.as_str(), kind, valid_for, now).await?)
    }
}
