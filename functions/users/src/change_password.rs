//! `PUT /users/reset-password`: the caller changes his password; all his other sessions end.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, Empty, ErrorCode, Input, Message, Now, SignedIn, input, secret,
    success,
};
use domain::{Instant, outbox::News, session::Session, user::User};
use secrecy::SecretString;
use store::Transaction;

use crate::{NewPassword, Users};

input! {
    pub(crate) struct ChangePasswordRequest {
        old: SecretString = required("oldPassword", secret),
        new: NewPassword = group(NewPassword::read),
    }
}

/// The old password comes first: who does not know it hears nothing of the new one.
pub(crate) async fn change_password(
    State(users): State<Users>,
    Now(now): Now,
    client: Client,
    person: SignedIn,
    Input(change): Input<ChangePasswordRequest>,
) -> ApiResult<Empty> {
    let SignedIn { user, session, .. } = person;
    let (old_hash, reserved) = attempts::verify_password(
        &users.store,
        &users.hasher,
        &user,
        &change.old,
        &client,
        now,
    )
    .await?;

    let new_hash = async {
        users.check_new_password(&user, &change.new, Some(&change.old))?;
        Ok::<_, ApiError>(users.hasher.hash(&change.new.password).await?)
    };
    let new_hash = new_hash.await;
    let changed = async { replace(&users, user, &session, &old_hash, &new_hash?, now).await };
    // Places that cannot be given back are free when their windows end.
    let (changed, _) = tokio::join!(changed, users.store.give_back(reserved));
    changed?;
    success(Message::PasswordChanged, Empty {})
}

/// The password changes, all sessions end but `session`, and the owner gets a message. Another change of the
/// account meanwhile is no obstacle; when the password or the session was changed, the old password is no
/// longer the password.
async fn replace(
    users: &Users,
    user: User,
    session: &Session,
    old_hash: &str,
    new_hash: &str,
    now: Instant,
) -> Result<User, ApiError> {
    let id = user.user_id;
    let replace = |user: &User, change: &mut Transaction| {
        if !user.is_active || user.epoch != session.epoch {
            return Err(ErrorCode::BadAuthCombination.into());
        }
        let after = user.changed(User::throw_out);
        let kept = Session {
            epoch: after.epoch,
            ..session.clone()
        };
        let news = News::PasswordChanged { at: now };
        change.change_password(id, old_hash, new_hash);
        change.keep_session(session, &kept);
        change.send(&users.codes.post().tell(user, news, now)?);
        Ok(after)
    };
    let refused = |_| ErrorCode::BadAuthCombination.into();
    users.store.update_user(user, replace, refused).await
}
