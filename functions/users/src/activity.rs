//! `GET /users/activity`: sign-ins, one's own or, for administrators, somebody's.

use axum::extract::State;
use common::{Failure, Now, Paging, Query, Refusal, Reply, SignedIn, shown};
use domain::{
    UserId,
    login_activity::LoginActivity,
    permissions::{Reach, Right},
};
use serde::Serialize;

use crate::Users;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    activity: Vec<LoginActivity>,
    next_cursor: Option<String>,
}

/// Newest first.
pub(crate) async fn activity(State(users): State<Users>, Now(now): Now, person: SignedIn, query: Query, paging: Paging) -> Reply<Shown> {
    let asked = query.get("userID").map(UserId::in_path);
    let whose = match asked {
        Some(id) if id != person.user.user_id => users.administered(&person, id).await?,
        _ => person.user.user_id,
    };
    let list = format!("GET /users/activity of={whose} caller={}", person.user.user_id);
    let position = paging.cursor.map(|cursor| users.cursors.read(&cursor, &list, now)).transpose()?;
    let page = users.store.login_activity_page(whose, position.as_deref(), paging.limit, now).await?;
    let next_cursor = page.last.map(|position| users.cursors.write(&position, &list, now)).transpose()?;
    shown(Shown { activity: page.items, next_cursor })
}

impl Users {
    /// The person `id`, whom an administrator asks about.
    async fn administered(&self, person: &SignedIn, id: UserId) -> Result<UserId, Failure> {
        let caller = person.user.standing();
        if caller.reach(Right::ManageUsers) == Reach::Nowhere {
            return Err(Refusal::Forbidden.into());
        }
        person.must_be_verified()?;
        let user = self.store.user(id).await?.filter(|user| caller.may(Right::ManageUsers, user.user_id, user.committee_id));
        Ok(user.ok_or(Refusal::UserNotFound)?.user_id)
    }
}
