//! Ends all sessions of a person whose token or device was stolen.

use common::{ApiError, ErrorCode};
use domain::{
    Email, Instant,
    audit::{Action, AuditedAction},
    user::User,
};
use identity::random;
use store::{Store, Transaction};

/// Ends all sessions and codes of the account with the address `email`. Password, one-time passwords and passkeys stay. What
/// the thief may have set goes: a pending address, and the verification of the number, which gets no codes until it is
/// verified again. Returns the account as it is afterwards.
///
/// The audit entry names the account itself as actor, because operators have no account. Repeating it ends the sessions that
/// began since.
///
/// # Errors
/// `USER_NOT_FOUND_MESSAGE` when no account has the address; else when the tables do not respond.
pub async fn end_sessions(store: &Store, email: &Email, now: Instant) -> Result<User, ApiError> {
    let owner = store.email_owner(email).await?.ok_or(ErrorCode::UserNotFound)?;
    let user = store.user(owner.user_id).await?.ok_or(ErrorCode::UserNotFound)?;
    let end = |user: &User, tx: &mut Transaction| {
        let after = user.changed(User::recover);
        let audited = AuditedAction::of_user(Action::SessionsEnded, user, &after);
        tx.record_audit(&audited.by(user, random::id(now), now));
        Ok(after)
    };
    store.update_user(user, end, |_| ErrorCode::Conflict.into()).await
}
