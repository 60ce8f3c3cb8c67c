//! `DELETE /team/{userId}/otp`: an administrator helps somebody who has lost his authenticator.

use accounts::Administrator;
use axum::extract::State;
use common::{ApiResult, Empty, Message, Now, Path, success};
use domain::{UserId, audit::Action, outbox::News, user::User};
use store::Transaction;

use crate::Team;

/// The secret goes, every session of the person ends, and he is success, unless he is closed out. Where
/// there is none, nothing happens.
pub(crate) async fn reset(
    State(team): State<Team>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
) -> ApiResult<Empty> {
    let user = admin.edits(&team.store, id).await?;
    let disable = |user: &User, change: &mut Transaction| {
        if !user.is_otp_enabled {
            return Ok(user.clone());
        }
        change.remove_otp(id, None);
        if user.is_active {
            let news = News::OtpDisabled {
                at: now,
                by_administrator: true,
            };
            change.send(&team.codes.post().tell(user, news, now)?);
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
