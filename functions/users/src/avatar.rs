//! `POST /users/avatar`: changes the caller's avatar.

use std::sync::Arc;

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, Request, State},
};
use bytes::Bytes;
use common::{ApiError, ApiResult, ErrorCode, Message, SignedIn, success};
use data_encoding::HEXLOWER;
use domain::{
    UserId,
    user::{Account, DEFAULT_AVATAR, MEDIA, User, avatar_key},
};
use http::header;
use identity::sealing::Sealer;
use serde::Serialize;
use storage::{
    Objects,
    avatar::{self, Avatar},
};
use store::Transaction;
use tokio::{sync::Semaphore, task};

use crate::{
    Users,
    change::{condition_error, require_active},
};

/// Largest picture, in bytes.
const MAX_PICTURE: usize = 4 * 1024 * 1024;
/// Largest multipart body, in bytes.
const MAX_FORM: usize = MAX_PICTURE + 64 * 1024;

/// Processes and stores avatars.
#[derive(Clone)]
pub(crate) struct Avatars {
    objects: Objects,
    sealer: Sealer,
    /// Limits decoding to one picture at a time: each can take 180 MB of memory.
    decoder: Arc<Semaphore>,
}

impl Avatars {
    pub(crate) fn new(objects: Objects, sealer: Sealer) -> Self {
        Self {
            objects,
            sealer,
            decoder: Arc::new(Semaphore::new(1)),
        }
    }

    /// Decodes the picture, scales it down and encodes it again, which removes metadata.
    async fn sanitize(&self, file: Bytes) -> Result<Avatar, ApiError> {
        let _permit = self.decoder.acquire().await?;
        let sanitized = task::spawn_blocking(move || avatar::clean(&file)).await?;
        sanitized.map_err(|_| ApiError::field("avatar", ErrorCode::AvatarInvalid))
    }

    /// Stores `avatar` and returns its public path. The name is an HMAC of account and content: it cannot be guessed,
    /// and the same picture gets the same path.
    async fn store(&self, user: UserId, avatar: Avatar) -> Result<String, ApiError> {
        let name = self.sealer.derive(
            "avatar",
            &[user.uuid().as_bytes(), avatar.bytes.as_slice()].concat(),
        );
        let path = format!(
            "{MEDIA}{}.{}",
            HEXLOWER.encode(&name[..20]),
            avatar.format.extension()
        );
        self.objects
            .put(
                avatar_key(&path),
                avatar.format.content_type(),
                avatar.bytes.into(),
            )
            .await?;
        Ok(path)
    }

    /// Deletes an avatar that is no longer in use. If that fails, the object stays under a name that cannot be guessed.
    async fn delete(&self, path: &str) {
        if path != DEFAULT_AVATAR
            && let Err(failure) = self.objects.delete(avatar_key(path)).await
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
            parts
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
        };
        let (content_type, coding) = (
            header(header::CONTENT_TYPE).to_ascii_lowercase(),
            header(header::CONTENT_ENCODING),
        );
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        let is_form = kind == "multipart/form-data";
        let max_bytes = if is_form { MAX_FORM } else { MAX_PICTURE };
        let body = to_bytes(body, max_bytes)
            .await
            .map_err(|_| ErrorCode::PayloadTooLarge)?;
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
        let file = file_in(body, header(header::CONTENT_TYPE))
            .await
            .ok_or_else(missing)?;
        if file.len() > MAX_PICTURE {
            Err(ErrorCode::PayloadTooLarge.into())
        } else {
            Ok(Self(file))
        }
    }
}

/// The picture in a multipart form (RFC 7578); `None` if there is none or the form is malformed.
async fn file_in(body: Bytes, content_type: &str) -> Option<Bytes> {
    let boundary = multer::parse_boundary(content_type).ok()?;
    let stream = futures_util::stream::once(async move { Ok::<_, std::convert::Infallible>(body) });
    let mut form = multer::Multipart::new(stream, boundary);
    while let Some(field) = form.next_field().await.ok()? {
        if field
            .name()
            .is_some_and(|name| ["avatar", "file"].contains(&name))
        {
            let file = field.bytes().await.ok()?;
            if !file.is_empty() {
                return Some(file);
            }
        }
    }
    None
}

#[derive(Serialize)]
pub(crate) struct AvatarResponse {
    avatar: String,
    user: Account,
}

pub(crate) async fn upload(
    State(users): State<Users>,
    caller: SignedIn,
    Picture(file): Picture,
) -> ApiResult<AvatarResponse> {
    let picture = users.avatars.sanitize(file).await?;
    let avatar = users.avatars.store(caller.user.user_id, picture).await?;
    let current = caller.user.avatar.clone();
    let changed = users.set_avatar(caller.user, &avatar).await;
    if changed.is_err() && current != avatar {
        // The account was deactivated or erased in the meantime.
        users.avatars.delete(&avatar).await;
    }
    let (user, previous) = changed?;
    if previous != avatar {
        users.avatars.delete(&previous).await;
    }
    success(
        Message::AvatarUpdated,
        AvatarResponse {
            avatar,
            user: Account::of(user, caller.committee),
        },
    )
}

impl Users {
    /// Sets the avatar's `path`; returns the changed account and the previous path.
    async fn set_avatar(&self, user: User, path: &str) -> Result<(User, String), ApiError> {
        let mut previous = String::new();
        let set = |user: &User, _: &mut Transaction| {
            require_active(user)?;
            previous.clone_from(&user.avatar);
            Ok(user.changed(|user| path.clone_into(&mut user.avatar)))
        };
        let user = self.store.update_user(user, set, condition_error).await?;
        Ok((user, previous))
    }
}
