//! `DELETE /team/{userId}/otp`: removes another person's one-time passwords, for people who lost their authenticator.

use accounts::Administrator;
use axum::extract::State;
use common::{ApiResult, Empty, Message, Now, Path, success};
use domain::{UserId, audit::Action, outbox::Notification, user::User};
use store::Transaction;

use crate::Team;

/// Deletes the secret, ends all sessions of the account and, if the account is active, notifies its owner. Does nothing
/// when there is no secret.
pub(crate) async fn reset(
    State(team): State<Team>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
) -> ApiResult<Empty> {
    let user = admin.account_to_edit(&team.store, id).await?;
    let disable = |user: &User, tx: &mut Transaction| {
        if !user.is_otp_enabled {
            return Ok(user.clone());
        }
        tx.remove_otp(id, None);
        if user.is_active {
            let notification = Notification::OtpDisabled {
                at: now,
                by_administrator: true,
            };
            tx.send(&team.codes.outbox().notify(user, notification, now)?);
        }
        Ok(user.changed(|user| {
            user.is_otp_enabled = false;
            user.is_otp_verified = false;
            user.epoch += 1;
        }))
    };
    admin
        .edit(&team.store, user, Action::OtpReset, now, disable)
        .await?;
    success(Message::OtpReset, Empty {})
}
