//! Files that people keep, and pictures that everybody sees. No file passes through here: a client sends it
//! to the bucket by a form and fetches it by a link.

mod complete;
mod create;
mod media;
mod my_files;
mod public;
mod remove;
mod show;

use std::time::Duration;

use axum::{
    Router,
    extract::FromRequestParts,
    routing::{get, post},
};
use common::{ApiError, Cursors, ErrorCode, Routes, SignedIn};
use domain::{
    FileId, Instant, UserId,
    file::{File, ShownFile},
};
use http::request::Parts;
use runtime::{ConfigError, Key};
use serde::Serialize;
use storage::{Objects, key_of};
use store::{Setup, Store};

/// The keys of this function.
pub const KEYS: &[Key] = &[Key::TokenPublic, Key::Cursor];

/// What this function can do.
#[derive(Clone)]
pub(crate) struct Files {
    store: Store,
    objects: Objects,
    cursors: Cursors,
    max_bytes: u64,
    quota_bytes: u64,
}

/// Every URL of this function.
///
/// # Errors
/// When a setting or a key is missing or malformed.
pub fn routes(setup: &Setup) -> Result<Routes, ConfigError> {
    let settings = &setup.settings;
    let files = Files {
        store: setup.store.clone(),
        objects: Objects::new(&setup.aws, settings)?,
        cursors: setup.keys.parse(Key::Cursor)?,
        max_bytes: settings.number("FILE_MAX_BYTES", 100_000_000)?,
        quota_bytes: settings.number("FILE_QUOTA_BYTES", 1_000_000_000)?,
    };
    Ok(Routes::new(
        Router::new()
            .route("/media/{key}", get(media::show))
            .route("/files", post(create::create))
            .route("/files/my-files", get(my_files::list))
            .route("/files/public/{fileId}", get(public::show))
            .route("/files/{fileId}", get(show::show).delete(remove::remove))
            .route("/files/{fileId}/complete", post(complete::complete))
            .with_state(files),
    )
    .no_store(&["/files"])
    .unprefixed("/media/"))
}

/// A verified person of an open committee, who may keep files.
#[derive(Debug, Clone)]
pub(crate) struct Keeper(pub(crate) SignedIn);

impl<S: Send + Sync> FromRequestParts<S> for Keeper {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let person = <SignedIn as FromRequestParts<S>>::from_request_parts(parts, state).await?;
        person.must_be_verified()?;
        person.must_be_of_open_committee()?;
        Ok(Self(person))
    }
}

/// A file alone.
#[derive(Serialize)]
pub(crate) struct FileResponse {
    file: ShownFile,
}

impl Files {
    /// The file `id` of `owner`; nobody else's files are known to him.
    async fn own(&self, id: FileId, owner: UserId) -> Result<File, ApiError> {
        Ok(self
            .store
            .file(id)
            .await?
            .filter(|file| file.user_id == owner)
            .ok_or(ErrorCode::FileNotFound)?)
    }

    /// Where `file` may be had until `good_for` is over.
    async fn link(
        &self,
        file: &File,
        good_for: Duration,
        now: Instant,
    ) -> Result<String, ApiError> {
        Ok(self
            .objects
            .link(
                &key_of(file.file_id),
                file.name.as_str(),
                file.content_type.code(),
                good_for,
                now,
            )
            .await?)
    }
}
