//! `PUT /users/user-status/{userId}`: an administrator opens or closes an account.

use accounts::Administrator;
use axum::extract::State;
use common::{ApiResult, Input, Message, Now, Path, flag, input, success};
use domain::{
    UserId,
    audit::Action,
    user::{Editable, User},
};
use store::Transaction;

use crate::Users;

input! {
    pub(crate) struct SetStatusRequest {
        is_active: bool = required("isActive", flag),
    }
}

/// Closing ends every session with the answer. The same again changes nothing.
pub(crate) async fn set_status(
    State(users): State<Users>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
    Input(request): Input<SetStatusRequest>,
) -> ApiResult<Editable> {
    let user = admin.edits(&users.store, id).await?;
    let set = |user: &User, _: &mut Transaction| {
        Ok(user.changed(|user| {
            user.epoch += u64::from(user.is_active && !request.is_active);
            user.is_active = request.is_active;
        }))
    };
    let user = admin
        .edit(&users.store, user, Action::UserStatusChanged, now, set)
        .await?;
    let committee = admin.committee_of(&users.store, &user).await?;
    success(Message::UserStatusUpdated, Editable::of(user, committee))
}
