//! `PUT /users/user-status/{userId}`: activates or deactivates another account.

use accounts::Administrator;
use axum::extract::State;
use common::{ApiResult, Input, Message, Now, Path, flag, input, success};
use domain::{
    UserId,
    audit::Action,
    user::{EditableAccount, User},
};
use store::Transaction;

use crate::Users;

input! {
    pub(crate) struct SetStatusRequest {
        is_active: bool = required("isActive", flag),
    }
}

/// Deactivation ends all sessions, codes and a pending address of the account, also when it is taken back. Repeating the request changes nothing.
pub(crate) async fn set_status(
    State(users): State<Users>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
    Input(request): Input<SetStatusRequest>,
) -> ApiResult<EditableAccount> {
    let user = admin.account_to_edit(&users.store, id).await?;
    let set = |user: &User, _: &mut Transaction| {
        Ok(user.changed(|user| {
            if user.is_active && !request.is_active {
                user.recover();
            }
            user.is_active = request.is_active;
        }))
    };
    let user = admin.edit(&users.store, user, Action::UserStatusChanged, now, set).await?;
    let committee = admin.committee_of(&users.store, &user).await?;
    success(Message::UserStatusUpdated, EditableAccount::of(user, committee))
}
