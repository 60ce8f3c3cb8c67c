//! `DELETE /users/{userId}`: erases the caller's own account or, for super admins, another one.

use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, Path, SignedIn, input,
    success,
};
use domain::{
    Instant, Profile, UserId,
    audit::{Action, AuditEntry},
    user::User,
};
use identity::random;
use secrecy::SecretString;
use store::{Part, Transaction};

use crate::Users;

input! {
    pub(crate) struct DeleteUserRequest {
        password: Option<SecretString> = optional_secret("password"),
    }
}

/// When the response is sent, the account is anonymous, its address is free and its sessions are invalid. The
/// worker deletes the remaining data.
pub(crate) async fn erase(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    caller: SignedIn,
    Path(id): Path<UserId>,
    Input(request): Input<DeleteUserRequest>,
) -> ApiResult<Empty> {
    let actor = caller.user.user_id;
    if id == actor {
        let password = request.password.as_ref();
        let reserved = users
            .verify_own_password(&caller.user, password, &client, now)
            .await?;
        let (erased, _) = tokio::join!(users.erase(id, actor, now), users.store.release(reserved));
        erased?;
    } else if caller.user.profile == Profile::SuperAdmin {
        caller.require_verified()?;
        users.erase(id, actor, now).await?;
    } else {
        users.require_self(&caller, id).await?;
    }
    success(Message::UserDeleted, Empty {})
}

impl Users {
    async fn erase(&self, id: UserId, actor: UserId, now: Instant) -> Result<User, ApiError> {
        let user = self.store.user(id).await?.ok_or(ErrorCode::UserNotFound)?;
        let erase = |before: &User, tx: &mut Transaction| {
            let after = tx.erase(before, now)?;
            if id != actor {
                let (audit_id, action) = (random::id(now), Action::UserDeleted);
                tx.record_audit(&AuditEntry::of_user(
                    audit_id, actor, action, before, &after, now,
                ));
            }
            Ok(after)
        };
        let condition_error = |part| match part {
            Part::User => ErrorCode::UserNotFound.into(),
            Part::Admins => ErrorCode::LastAdmin.into(),
            _ => ErrorCode::Conflict.into(),
        };
        self.store.update_user(user, erase, condition_error).await
    }
}
