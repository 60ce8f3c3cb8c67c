//! `POST /users/not-me`: the owner of a mailbox removes an account that someone else registered with their address.

use axum::extract::State;
use common::{ApiError, ApiResult, Empty, ErrorCode, Input, Message, Now, input, success, text};
use domain::{
    Email, Instant, UserId,
    audit::{Action, AuditedAction},
    code::TypedCode,
    user::User,
};
use identity::{code::removal_hash, random};
use store::{Part, Transaction};

use crate::Users;

input! {
    pub(crate) struct NotMeRequest {
        email: Email = required("email", text),
        code: TypedCode = required("code", text),
    }
}

/// Needs no session: the code is in the mails with codes that were sent to the mailbox. It is valid until the mailbox is verified or
/// the account erased. It is too long to be guessed, so attempts are not counted.
pub(crate) async fn remove(
    State(users): State<Users>,
    Now(now): Now,
    Input(request): Input<NotMeRequest>,
) -> ApiResult<Empty> {
    // The same reads for an unknown address.
    let owner = users.store.email_owner(&request.email).await?;
    let user = users.store.user(owner.map_or(UserId::NONE, |owner| owner.user_id)).await?;
    let hash = removal_hash(request.code.as_str());
    let is_removable = |user: &User| user.removal_code.as_ref() == Some(&hash);
    let user = user.filter(is_removable).ok_or(ErrorCode::VerificationInvalid)?;
    users.remove(user, &hash, now).await?;
    success(Message::AccountRemoved, Empty {})
}

impl Users {
    /// Erases `user` if `hash` is still that of their removal code. The audit entry names the account itself as actor, because
    /// the request has no session.
    async fn remove(&self, user: User, hash: &str, now: Instant) -> Result<User, ApiError> {
        let invalid = || ApiError::from(ErrorCode::VerificationInvalid);
        let decide = |user: &User, tx: &mut Transaction| {
            if user.removal_code.as_deref() != Some(hash) {
                return Err(invalid());
            }
            let after = tx.erase(user, now)?;
            let audited = AuditedAction::of_user(Action::UserDeleted, user, &after);
            tx.record_audit(&audited.by(user, random::id(now), now));
            Ok(after)
        };
        let condition_error = |part| match part {
            Part::User => invalid(),
            Part::Admins => ErrorCode::LastAdmin.into(),
            _ => ErrorCode::Conflict.into(),
        };
        self.store.update_user(user, decide, condition_error).await
    }
}
