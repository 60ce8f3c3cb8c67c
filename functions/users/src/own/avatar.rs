//! `POST /users/avatar`: changes the caller's avatar.

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, Request, State},
};
use bytes::Bytes;
use common::{ApiError, ApiResult, ErrorCode, Message, Now, SignedIn, success};
use data_encoding::HEXLOWER;
use domain::{
    limits,
    user::{AccountWithCommittee, DEFAULT_AVATAR, MEDIA, User, avatar_key},
};
use http::header;
use identity::sealing::Sealer;
use serde::Serialize;
use storage::{
    Bucket,
    avatar::{self, Avatar},
};
use store::{Counter, StoreError, Transaction};
use tokio::task;

use crate::Users;

/// Largest picture, in bytes.
const MAX_PICTURE: usize = 4 * 1024 * 1024;
/// Largest multipart body, in bytes.
const MAX_FORM: usize = MAX_PICTURE + 64 * 1024;
/// Attempts to put a picture in force while others replace it.
const MAX_ATTEMPTS: usize = 3;

/// Processes and stores avatars.
#[derive(Clone)]
pub(crate) struct Avatars {
    bucket: Bucket,
    sealer: Sealer,
}

impl Avatars {
    pub(crate) fn new(bucket: Bucket, sealer: Sealer) -> Self {
        Self { bucket, sealer }
    }

    /// Decodes the picture, scales it down and encodes it again, which removes metadata.
    async fn sanitize(file: Bytes) -> Result<Avatar, ApiError> {
        let sanitized = task::spawn_blocking(move || avatar::clean(&file)).await?;
        sanitized.map_err(|_| ApiError::field("avatar", ErrorCode::AvatarInvalid))
    }

    /// The public path of `avatar` as the next picture of `user`: that of the present one if it is the same picture. The
    /// name is an HMAC of account, content and the number of the picture: it cannot be guessed, and the path of a
    /// picture that was replaced, whose object may be being deleted, is never used again.
    fn path(&self, user: &User, avatar: &Avatar) -> String {
        let numbered = |number: u64| {
            let number = number.to_be_bytes();
            let input = [user.user_id.uuid().as_bytes(), avatar.bytes.as_slice(), &number].concat();
            let name = HEXLOWER.encode(&self.sealer.derive("avatar", &input)[..20]);
            format!("{MEDIA}{name}.{}", avatar.format.extension())
        };
        let same = numbered(user.avatar_number);
        if same == user.avatar { same } else { numbered(user.avatar_number + 1) }
    }

    /// Stores `avatar` under `path`.
    async fn store(&self, path: &str, avatar: &Avatar) -> Result<(), ApiError> {
        let (key, bytes) = (avatar_key(path), avatar.bytes.clone().into());
        Ok(self.bucket.put(key, avatar.format.content_type(), Some(storage::KEPT), bytes).await?)
    }

    /// Deletes an avatar that is no longer in use. If that fails, the object stays under a name that cannot be guessed.
    async fn delete(&self, path: &str) {
        if path != DEFAULT_AVATAR
            && let Err(failure) = self.bucket.delete(avatar_key(path)).await
        {
            tracing::warn!(%failure, "deleting an unused avatar failed");
        }
    }
}

/// The uploaded picture: the body itself, or the field `avatar` or `file` of a multipart form.
pub(crate) struct Picture(Bytes);

impl<S: Send + Sync> FromRequest<S> for Picture {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let header = |name| {
            parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
        };
        let (content_type, coding) =
            (header(header::CONTENT_TYPE).to_ascii_lowercase(), header(header::CONTENT_ENCODING));
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        let is_form = kind == "multipart/form-data";
        let max_bytes = if is_form { MAX_FORM } else { MAX_PICTURE };
        let body = to_bytes(body, max_bytes).await.map_err(|_| ErrorCode::PayloadTooLarge)?;
        let is_picture = ["image/png", "image/jpeg", "image/webp"].contains(&kind);
        let missing = || ApiError::field("avatar", ErrorCode::FieldRequired);
        if body.is_empty() {
            return Err(missing());
        }
        if !(is_form || is_picture)
            || !(coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
        {
            return Err(ErrorCode::UnsupportedMediaType.into());
        }
        if is_picture {
            return Ok(Self(body));
        }
        let file = file_in(body, header(header::CONTENT_TYPE)).await.ok_or_else(missing)?;
        if file.len() > MAX_PICTURE {
            Err(ErrorCode::PayloadTooLarge.into())
        } else {
            Ok(Self(file))
        }
    }
}

/// Fields of a form that are read: a parser of many empty ones would keep the processor busy.
const MAX_FIELDS: usize = 1_000;

/// The picture in a multipart form (RFC 7578); `None` if there is none or the form is malformed.
async fn file_in(body: Bytes, content_type: &str) -> Option<Bytes> {
    let boundary = multer::parse_boundary(content_type).ok()?;
    let stream = futures_util::stream::once(async move { Ok::<_, std::convert::Infallible>(body) });
    let mut form = multer::Multipart::new(stream, boundary);
    for _ in 0..MAX_FIELDS {
        let field = form.next_field().await.ok()??;
        let disposition = field.headers().get(header::CONTENT_DISPOSITION);
        // Browsers write the name of the file as UTF-8.
        let name =
            disposition.and_then(|value| field_name(&String::from_utf8_lossy(value.as_bytes())));
        if name.is_some_and(|name| ["avatar", "file"].contains(&name.as_str())) {
            let file = field.bytes().await.ok()?;
            if !file.is_empty() {
                return Some(file);
            }
        }
    }
    None
}

/// The parameter `name` of a `Content-Disposition`, in any case (RFC 7578 §4.2). `multer` finds another one within a
/// quoted file name.
fn field_name(disposition: &str) -> Option<String> {
    let mut rest = disposition.split_once(';')?.1;
    loop {
        let (name, value) = rest.split_once('=')?;
        let (value, after) = match value.trim_start().strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (value, after) = value.split_once(';').unwrap_or((value, ""));
                (value.trim().to_owned(), after)
            }
        };
        if name.trim_matches([' ', '\t', ';']).eq_ignore_ascii_case("name") {
            return Some(value);
        }
        rest = after;
    }
}

/// The text before the closing quotation mark, and what follows it.
fn unquoted(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((text, &quoted[at + 1..])),
            '\\' => text.push(letters.next()?.1),
            letter => text.push(letter),
        }
    }
    None
}

#[derive(Serialize)]
pub(crate) struct AvatarResponse {
    avatar: String,
    user: AccountWithCommittee,
}

pub(crate) async fn upload(
    State(users): State<Users>,
    Now(now): Now,
    caller: SignedIn,
    Picture(file): Picture,
) -> ApiResult<AvatarResponse> {
    let id = caller.user.user_id;
    // Every picture that is decoded counts: the reservation is not released.
    let _ = users.store.reserve(&[Counter::of(limits::AVATAR, id)], now).await?;
    let picture = Avatars::sanitize(file).await?;
    let user = users.replace_avatar(caller.user, &picture).await?;
    success(
        Message::AvatarUpdated,
        AvatarResponse {
            avatar: user.avatar.clone(),
            user: AccountWithCommittee::of(user, caller.committee),
        },
    )
}

/// Why a picture was not put in force.
enum NotReplaced {
    /// Another one was, in the meantime.
    Changed,
    /// The account was closed or erased.
    Closed,
    Store(StoreError),
}

impl From<StoreError> for NotReplaced {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Users {
    /// Stores `picture`, makes it the avatar of `user`, and deletes the one that it replaces. Returns the changed account.
    ///
    /// # Errors
    /// 401 when the account was closed or erased in the meantime, `CONFLICT_MESSAGE` when others keep replacing it.
    async fn replace_avatar(&self, mut user: User, picture: &Avatar) -> Result<User, ApiError> {
        for _ in 0..MAX_ATTEMPTS {
            let path = self.avatars.path(&user, picture);
            // Its object exists. Stored again, it could outlive a replacement or an erasure that deletes it meanwhile.
            if path == user.avatar {
                return Ok(user);
            }
            self.avatars.store(&path, picture).await?;
            let mut stored = user.clone();
            let decide = |found: &User, _: &mut Transaction| {
                stored.clone_from(found);
                if !found.is_active {
                    return Err(NotReplaced::Closed);
                }
                if found.avatar_number != user.avatar_number {
                    return Err(NotReplaced::Changed);
                }
                Ok(found.changed(|user| {
                    user.avatar_number += 1;
                    user.avatar.clone_from(&path);
                }))
            };
            let update = self.store.update_user(user.clone(), decide, |_| NotReplaced::Closed);
            match update.await {
                Ok(after) => {
                    self.avatars.delete(&user.avatar).await;
                    return Ok(after);
                }
                // The change may have been made, so either picture may be in force: both objects are kept.
                Err(NotReplaced::Store(error)) => return Err(error.into()),
                Err(reason) => {
                    if stored.avatar != path {
                        self.avatars.delete(&path).await;
                    }
                    if matches!(reason, NotReplaced::Closed) {
                        return Err(ApiError::invalid_token());
                    }
                    user = stored;
                }
            }
        }
        Err(ErrorCode::Conflict.into())
    }
}
