//! `PUT /users/user-status/{userId}`: an administrator opens or closes an account.

use axum::extract::State;
use common::{
    Administrator, Fields, FromFields, Input, Message, Now, Path, Refusal, Reply, flag, told,
};
use domain::{
    UserId,
    audit::{Action, AuditEntry},
    user::Editable,
};
use identity::chance;
use store::{Outcome, Part};

use crate::Users;

pub(crate) struct Wish {
    is_active: bool,
}

impl<S> FromFields<S> for Wish {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        Some(Self {
            is_active: fields.required("isActive", flag)?,
        })
    }
}

/// Closing ends every session with the answer. The same again changes nothing.
pub(crate) async fn set_status(
    State(users): State<Users>,
    Now(now): Now,
    admin: Administrator,
    Path(id): Path<UserId>,
    Input(wish): Input<Wish>,
) -> Reply<Editable> {
    for _ in 0..crate::TRIES {
        let before = admin.edits(&users.store, id).await?;
        let after = before.changed(|user| {
            user.epoch += u64::from(user.is_active && !wish.is_active);
            user.is_active = wish.is_active;
        });
        let mut change = users.store.transaction();
        if after != before {
            change.change_user(&before, &after);
            change.follow_admins(&before, &after);
            let actor = admin.0.user.user_id;
            change.note(&AuditEntry::of_user(
                chance::id(now),
                actor,
                Action::UserStatusChanged,
                &before,
                &after,
                now,
            ));
        }
        match change.commit().await? {
            Outcome::Done => {
                let committee = admin.committee_of(&users.store, &after).await?;
                return told(Message::UserStatusUpdated, Editable::of(after, committee));
            }
            Outcome::Refused(Part::Admins) => return Err(Refusal::LastAdmin.into()),
            Outcome::Refused(_) => {}
        }
    }
    Err(Refusal::Conflict.into())
}
