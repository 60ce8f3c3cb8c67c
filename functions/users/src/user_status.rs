//! `PUT /users/user-status/{userId}`: activates or deactivates another account.

use accounts::{Administrator, attempts};
use axum::extract::State;
use common::{ApiResult, Input, Message, Now, Path, flag, input, success};
use domain::{
    UserId,
    audit::Action,
    outbox::AccountEvent,
    user::{EditableAccount, User},
};
use store::Transaction;

use crate::Users;

input! {
    pub(crate) struct SetStatusRequest {
        is_active: bool = required("isActive", flag),
    }
}

/// Deactivation ends all sessions, codes and a pending address of the account, also when it is taken back, and is told to its
/// owner. Repeating the request changes nothing.
pub(crate) async fn set_status(
    State(users): State<Users>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
    Input(request): Input<SetStatusRequest>,
) -> ApiResult<EditableAccount> {
    let user = admin.account_to_edit(&users.store, id).await?;
    let suspends = user.is_active && !request.is_active;
    let set = |user: &User, tx: &mut Transaction| {
        let is_suspended = user.is_active && !request.is_active;
        if is_suspended {
            tx.send(&users.codes.outbox().notify(user, AccountEvent::Suspended, now)?);
        }
        Ok(user.changed(|user| {
            if is_suspended {
                user.recover();
            }
            user.is_active = request.is_active;
        }))
    };
    let edit = admin.edit(&users.store, user, Action::UserStatusChanged, now, set);
    let user = if suspends {
        let counters = attempts::of_change("accountSuspended", id);
        attempts::counted(&users.store, &counters, now, edit).await?
    } else {
        edit.await?
    };
    let committee = admin.committee_of(&users.store, &user).await?;
    success(Message::UserStatusUpdated, EditableAccount::of(user, committee))
}
