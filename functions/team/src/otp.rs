//! `DELETE /team/{userId}/otp`: removes another person's one-time passwords and passkeys, for people who lost their
//! authenticator.

use accounts::{Administrator, attempts};
use axum::extract::State;
use common::{ApiResult, Empty, Message, Now, Path, success};
use domain::{UserId, audit::Action, outbox::AccountEvent, user::User};
use store::Transaction;

use crate::Team;

/// Deletes the secret, removes all passkeys, ends all sessions of the account and, if the account is active, notifies its
/// owner. Does nothing when there is neither.
pub(crate) async fn reset(
    State(team): State<Team>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
) -> ApiResult<Empty> {
    let user = admin.account_to_edit(&team.store, id).await?;
    let disable = |user: &User, tx: &mut Transaction| {
        let by_administrator = true;
        let mut removed = Vec::new();
        if user.is_otp_enabled {
            tx.remove_otp(id, None);
            removed.push(AccountEvent::OtpDisabled { by_administrator });
        }
        if user.passkeys > 0 {
            removed.push(AccountEvent::PasskeysRemoved { by_administrator });
        }
        if removed.is_empty() {
            return Ok(user.clone());
        }
        for event in removed.into_iter().filter(|_| user.is_active) {
            tx.send(&team.codes.outbox().notify(user, event, now)?);
        }
        Ok(user.changed(|user| {
            user.is_otp_enabled = false;
            user.is_otp_verified = false;
            user.remove_passkeys();
            user.epoch += 1;
        }))
    };
    let edit = admin.edit(&team.store, user, Action::OtpReset, now, disable);
    let counters = attempts::of_change("otpDisabled", id);
    attempts::counted(&team.store, &counters, now, edit).await?;
    success(Message::OtpReset, Empty {})
}
