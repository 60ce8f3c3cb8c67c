//! `POST /users/not-me`: the owner of a mailbox removes an account that someone else registered with their address.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, input, success, text,
};
use domain::{Email, Instant, UserId, code::TypedCode, limits, user::User};
use identity::code::removal_hash;
use store::{Counter, Part, Transaction};

use crate::Users;

input! {
    pub(crate) struct NotMeRequest {
        email: Email = required("email", text),
        code: TypedCode = required("code", text),
    }
}

/// Needs no session: the code is in the mail that the registration sent. It is valid until the mailbox is verified or
/// the account erased.
pub(crate) async fn remove(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    Input(request): Input<NotMeRequest>,
) -> ApiResult<Empty> {
    let counters = [Counter::of(limits::CODE_NETWORK, &client.network)];
    let (reserved, owner) = tokio::join!(
        attempts::reserve(&users.store, &counters, now),
        users.store.email_owner(&request.email)
    );
    let reserved = reserved?;
    let hash = removal_hash(request.code.as_str());
    let found = async {
        // The same read for an unknown address.
        let id = owner?.map_or(UserId::NONE, |owner| owner.user_id);
        users.store.user(id).await
    };
    let is_removable = |user: &User| user.removal_code.as_ref() == Some(&hash);
    match found.await.map(|user| user.filter(is_removable)) {
        Ok(Some(user)) => {
            let (removed, _) =
                tokio::join!(users.remove(user, &hash, now), users.store.release(reserved));
            removed?;
            success(Message::AccountRemoved, Empty {})
        }
        // A wrong code stays counted.
        Ok(None) => Err(ErrorCode::VerificationInvalid.into()),
        Err(error) => {
            let _ = users.store.release(reserved).await;
            Err(error.into())
        }
    }
}

impl Users {
    /// Erases `user` while `hash` is still that of their removal code.
    async fn remove(&self, user: User, hash: &str, now: Instant) -> Result<User, ApiError> {
        let invalid = || ApiError::from(ErrorCode::VerificationInvalid);
        let erase = |user: &User, tx: &mut Transaction| {
            if user.removal_code.as_deref() != Some(hash) {
                return Err(invalid());
            }
            Ok(tx.erase(user, now)?)
        };
        let condition_error = |part| match part {
            Part::User => invalid(),
            Part::Admins => ErrorCode::LastAdmin.into(),
            _ => ErrorCode::Conflict.into(),
        };
        self.store.update_user(user, erase, condition_error).await
    }
}
