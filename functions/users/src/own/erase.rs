//! `DELETE /users/{userId}`: erases the caller's own account or, for super admins, another one.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, Path, SignedIn, input,
    success,
};
use domain::{
    Instant, Profile, UserId,
    audit::{Action, AuditedAction},
    outbox::AccountEvent,
    session::Session,
    user::User,
};
use identity::random;
use secrecy::SecretString;
use store::{Part, Transaction};

use super::change::condition_error;
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
        let (store, hasher) = (&users.store, &users.hasher);
        let attempt =
            attempts::verify_owner(store, hasher, &caller, password, &client, now).await?;
        attempt.end_with(users.erase_own(caller, now)).await?;
    } else if caller.user.profile == Profile::SuperAdmin {
        caller.require_verified()?;
        users.erase_other(id, &caller.user, now).await?;
    } else {
        users.require_self(&caller, id).await?;
    }
    success(Message::UserDeleted, Empty {})
}

impl Users {
    /// Erases the account of the caller, unless all its sessions were ended since the password was verified.
    async fn erase_own(&self, caller: SignedIn, now: Instant) -> Result<(), ApiError> {
        let verified = caller.session.epoch;
        let decide = |user: &User, session: &Session, tx: &mut Transaction| {
            // The password may have been changed since it was verified.
            if session.epoch != verified {
                return Err(ErrorCode::Conflict.into());
            }
            self.erased(tx, user, user, now)
        };
        let condition_error = |part| match part {
            Part::Admins => ErrorCode::LastAdmin.into(),
            part => condition_error(part),
        };
        let (user, session) = (caller.user, caller.session);
        let erased = self.store.update_own(user, session, now, decide, condition_error);
        erased.await.map(drop)
    }

    async fn erase_other(&self, id: UserId, actor: &User, now: Instant) -> Result<User, ApiError> {
        let user = self.store.user(id).await?.ok_or(ErrorCode::UserNotFound)?;
        let decide = |before: &User, tx: &mut Transaction| self.erased(tx, actor, before, now);
        let condition_error = |part| match part {
            Part::User => ErrorCode::UserNotFound.into(),
            Part::Admins => ErrorCode::LastAdmin.into(),
            _ => ErrorCode::Conflict.into(),
        };
        self.store.update_user(user, decide, condition_error).await
    }

    /// The account `before` after `actor` has erased it. Adds to `tx` the audit entry and the notification of the owner.
    fn erased(
        &self,
        tx: &mut Transaction,
        actor: &User,
        before: &User,
        now: Instant,
    ) -> Result<User, ApiError> {
        let after = tx.erase(before, now)?;
        let audited = AuditedAction::of_user(Action::UserDeleted, before, &after);
        tx.record_audit(&audited.by(actor, random::id(now), now));
        let erased = AccountEvent::Erased { is_mailbox_verified: before.is_mailbox_verified };
        tx.send(&self.codes.outbox().notify(before, erased, now)?);
        Ok(after)
    }
}
