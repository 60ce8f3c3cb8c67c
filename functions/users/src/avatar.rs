//! `POST /users/avatar`: changes the caller's avatar.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use accounts::attempts;
use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, Request, State},
};
use bytes::Bytes;
use common::{ApiError, ApiResult, ErrorCode, Message, Now, SignedIn, success};
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
use store::{Counter, StoreError, Transaction};
use tokio::{sync::Semaphore, task};

use crate::Users;

/// Largest picture, in bytes.
const MAX_PICTURE: usize = 4 * 1024 * 1024;
/// Largest multipart body, in bytes.
const MAX_FORM: usize = MAX_PICTURE + 64 * 1024;
/// The lock of a process that was killed ends after this time. Decoding and storing a picture and changing the account
/// takes less than half of it, because every request has a time-out.
const LOCK_TIME: Duration = Duration::from_secs(60);

/// Processes and stores avatars.
#[derive(Clone)]
pub(crate) struct Avatars {
    objects: Objects,
    sealer: Sealer,
    /// Limits decoding to two pictures at a time: each can take 180 MB of memory.
    decoder: Arc<Semaphore>,
    /// The accounts with uploads in progress in this process.
    queues: Arc<Mutex<HashMap<UserId, Weak<Semaphore>>>>,
}

impl Avatars {
    pub(crate) fn new(objects: Objects, sealer: Sealer) -> Self {
        Self {
            objects,
            sealer,
            decoder: Arc::new(Semaphore::new(2)),
            queues: Arc::default(),
        }
    }

    /// The queue of the uploads of `user`, with one permit: however many pictures an account sends at once, others wait
    /// for at most one of them.
    fn queue_of(&self, user: UserId) -> Arc<Semaphore> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = queues.get(&user).and_then(Weak::upgrade);
        queue.unwrap_or_else(|| {
            let queue = Arc::new(Semaphore::new(1));
            queues.insert(user, Arc::downgrade(&queue));
            queue
        })
    }

    /// Decodes the picture, scales it down and encodes it again, which removes metadata.
    async fn sanitize(&self, file: Bytes) -> Result<Avatar, ApiError> {
        let permit = Arc::clone(&self.decoder).acquire_owned().await?;
        let clean = move || {
            // Decoding does not stop when the client disconnects; the permit is held until its end.
            let _permit = permit;
            avatar::clean(&file)
        };
        let sanitized = task::spawn_blocking(clean).await?;
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
    Now(now): Now,
    caller: SignedIn,
    Picture(file): Picture,
) -> ApiResult<AvatarResponse> {
    let id = caller.user.user_id;
    let queue = users.avatars.queue_of(id);
    let _turn = queue.acquire().await?;
    let (limit, lock) = (attempts::of_avatar(id), lock_of(id));
    let (counted, locked) = tokio::join!(
        attempts::reserve(&users.store, &limit, now),
        users.store.reserve(&lock, now)
    );
    let locked = locked.map_err(ApiError::from);
    let lock = match locked.and_then(|lock| lock.map_err(|_| ErrorCode::Conflict.into())) {
        Ok(lock) => lock,
        Err(error) => {
            // Nothing was decoded.
            let _ = users.store.release(counted?).await;
            return Err(error);
        }
    };
    let replaced = async {
        // Every picture that is decoded counts: the reservation is not released.
        let _ = counted?;
        let picture = users.avatars.sanitize(file).await?;
        users.replace_avatar(caller.user, picture).await
    };
    let replaced = replaced.await;
    // If this fails, the lock ends by itself.
    let _ = users.store.release(lock).await;
    let user = replaced?;
    success(
        Message::AvatarUpdated,
        AvatarResponse {
            avatar: user.avatar.clone(),
            user: Account::of(user, caller.committee),
        },
    )
}

/// Lets one process at a time replace the avatar of `user`. Otherwise one could delete the previous picture while
/// another one, in which the person has chosen that picture again, puts it in force.
fn lock_of(user: UserId) -> [Counter; 1] {
    [Counter {
        name: "avatar-lock",
        key: user.to_string(),
        max: 1,
        window: LOCK_TIME,
    }]
}

impl Users {
    /// Stores `picture`, makes it the avatar of `user`, and deletes the one that it replaces. Returns the changed account.
    ///
    /// # Errors
    /// 401 when the account was closed or erased in the meantime.
    async fn replace_avatar(&self, user: User, picture: Avatar) -> Result<User, ApiError> {
        let id = user.user_id;
        let path = self.avatars.store(id, picture).await?;
        let mut previous = String::new();
        let set = |user: &User, _: &mut Transaction| {
            previous.clone_from(&user.avatar);
            let after = user.changed(|user| user.avatar.clone_from(&path));
            Some(after).filter(|after| after.is_active).ok_or(None)
        };
        // The error is `None` when the account was closed or erased.
        let changed: Result<User, Option<StoreError>> =
            self.store.update_user(user, set, |_| None).await;
        match changed {
            Ok(user) => {
                if previous != path {
                    self.avatars.delete(&previous).await;
                }
                Ok(user)
            }
            Err(None) => {
                let user = self.store.user(id).await?;
                if user.is_none_or(|user| user.avatar != path) {
                    self.avatars.delete(&path).await;
                }
                Err(ApiError::invalid_token())
            }
            // The change may have been made, so either picture may be in force: both objects are kept.
            Err(Some(error)) => Err(error.into()),
        }
    }
}
