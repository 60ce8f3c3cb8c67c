//! `PUT /users/reset-password`: changes the caller's password and ends their other sessions.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, SignedIn, input, secret,
    success,
};
use domain::{Instant, limits, outbox::AccountEvent, session::Session, user::User};
use secrecy::SecretString;
use store::{Counter, Transaction};

use crate::{NewPassword, Users};

input! {
    pub(crate) struct ChangePasswordRequest {
        old: SecretString = required("oldPassword", secret),
        new: NewPassword = group(NewPassword::read),
    }
}

/// Verifies the old password first, so that a wrong one gives no information about the new one.
pub(crate) async fn change_password(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    caller: SignedIn,
    Input(request): Input<ChangePasswordRequest>,
) -> ApiResult<Empty> {
    let SignedIn { user, session, .. } = caller;
    let (old_hash, attempt) =
        attempts::verify_password(&users.store, &users.hasher, &user, &request.old, &client, now)
            .await?;

    let changed = async {
        users.check_new_password(&user, &request.new, Some(&request.old))?;
        let counters = [Counter::of(limits::ENDING_CODES, user.user_id)];
        let changed = async {
            let new_hash = users.hasher.hash(&request.new.password).await?;
            replace(&users, user, &session, &old_hash, &new_hash, now).await
        };
        attempts::counted(&users.store, &counters, now, changed).await
    };
    attempt.end_with(changed).await?;
    success(Message::PasswordChanged, Empty {})
}

/// Changes the password, ends all sessions except `session` and notifies the owner. Other concurrent changes to the
/// account are kept. If password or session changed concurrently, the verified old password may be outdated:
/// `BAD_AUTH_COMBINATION_MESSAGE`.
async fn replace(
    users: &Users,
    user: User,
    session: &Session,
    old_hash: &str,
    new_hash: &str,
    now: Instant,
) -> Result<User, ApiError> {
    let id = user.user_id;
    let decide = |user: &User, tx: &mut Transaction| {
        if !user.is_active || user.epoch != session.epoch {
            return Err(ErrorCode::BadAuthCombination.into());
        }
        let after = user.changed(User::revoke_sessions);
        let kept = Session { epoch: after.epoch, ..session.clone() };
        let event = AccountEvent::PasswordChanged { has_passkeys: after.passkeys > 0 };
        tx.change_password(id, Some(old_hash), new_hash);
        tx.renew_session(session, &kept);
        tx.send(&users.codes.outbox().notify(user, event, now)?);
        Ok(after)
    };
    let condition_error = |_| ErrorCode::BadAuthCombination.into();
    users.store.update_user(user, decide, condition_error).await
}
