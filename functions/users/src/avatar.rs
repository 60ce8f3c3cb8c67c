//! `POST /users/avatar`: the caller chooses his picture.

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
    change::{must_be_active, overtaken},
};

/// No picture is longer, in bytes.
const MAX_PICTURE: usize = 4 * 1024 * 1024;
/// What a form may add to it.
const MAX_FORM: usize = MAX_PICTURE + 64 * 1024;

/// The power to keep pictures.
#[derive(Clone)]
pub(crate) struct Avatars {
    objects: Objects,
    sealer: Sealer,
    /// One picture at a time: each may take 180 MB while it is decoded.
    one: Arc<Semaphore>,
}

impl Avatars {
    pub(crate) fn new(objects: Objects, sealer: Sealer) -> Self {
        Self {
            objects,
            sealer,
            one: Arc::new(Semaphore::new(1)),
        }
    }

    /// The picture as it is kept: decoded, shrunk, and written anew.
    async fn clean(&self, file: Bytes) -> Result<Avatar, ApiError> {
        let _one = self.one.acquire().await?;
        let cleaned = task::spawn_blocking(move || avatar::clean(&file)).await?;
        cleaned.map_err(|_| ApiError::field("avatar", ErrorCode::AvatarInvalid))
    }

    /// Keeps `avatar` of `user`, and gives the path at which everybody sees it.
    async fn keep(&self, user: UserId, avatar: Avatar) -> Result<String, ApiError> {
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

    /// What nobody shows any more goes; if it cannot, it stays, and nobody knows its name.
    async fn forget(&self, path: &str) {
        if path != DEFAULT_AVATAR
            && let Err(failure) = self.objects.delete(avatar_key(path)).await
        {
            tracing::warn!(%failure, "a former avatar was not removed");
        }
    }
}

/// A picture's file: of a form, in the field `avatar` or `file`, or as the body itself.
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
        let most = if is_form { MAX_FORM } else { MAX_PICTURE };
        let body = to_bytes(body, most)
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

/// The file in a form (RFC 7578); `None` when there is none, or the form is broken.
async fn file_in(body: Bytes, content_type: &str) -> Option<Bytes> {
    let boundary = multer::parse_boundary(content_type).ok()?;
    let whole = futures_util::stream::once(async move { Ok::<_, std::convert::Infallible>(body) });
    let mut form = multer::Multipart::new(whole, boundary);
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

pub(crate) async fn change(
    State(users): State<Users>,
    person: SignedIn,
    Picture(file): Picture,
) -> ApiResult<AvatarResponse> {
    let clean = users.avatars.clean(file).await?;
    let avatar = users.avatars.keep(person.user.user_id, clean).await?;
    let current = person.user.avatar.clone();
    let shown = users.show_avatar(person.user, &avatar).await;
    if shown.is_err() && current != avatar {
        // Closed or erased meanwhile: nothing of it stays.
        users.avatars.forget(&avatar).await;
    }
    let (user, former) = shown?;
    if former != avatar {
        users.avatars.forget(&former).await;
    }
    success(
        Message::AvatarUpdated,
        AvatarResponse {
            avatar,
            user: Account::of(user, person.committee),
        },
    )
}

impl Users {
    /// `user` with the avatar at `path`, and the path of the one before.
    async fn show_avatar(&self, user: User, path: &str) -> Result<(User, String), ApiError> {
        let mut former = String::new();
        let show = |user: &User, _: &mut Transaction| {
            must_be_active(user)?;
            former.clone_from(&user.avatar);
            Ok(user.changed(|user| path.clone_into(&mut user.avatar)))
        };
        let user = self.store.update_user(user, show, overtaken).await?;
        Ok((user, former))
    }
}
