//! `GET /users/{userId}`: returns an account or its card, depending on the caller's rights.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Path, SignedIn, ok};
use domain::{
    UserId,
    permissions::Right,
    user::{Account, AccountWithCommittee, Card},
};
use serde::Serialize;

use crate::Users;

#[derive(Serialize)]
pub(crate) struct UserResponse {
    user: View,
    /// Version for the next change; only if the caller may edit the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum View {
    Account(Box<AccountWithCommittee>),
    ListedAccount(Box<Account>),
    Card(Card),
}

pub(crate) async fn show(
    State(users): State<Users>,
    caller: SignedIn,
    Path(id): Path<UserId>,
) -> ApiResult<UserResponse> {
    if id == caller.user.user_id {
        return ok(UserResponse { user: View::Account(Box::new(caller.account())), version: None });
    }
    caller.require_verified()?;
    let rights = caller.user.rights();
    let user = users.permitted(id, &caller.user, Right::ReadCards).await?;
    let version = rights.may_edit(&user.rights()).then_some(user.version);
    if !rights.may(Right::ReadAccounts, user.user_id, user.committee_id) {
        return ok(UserResponse { user: View::Card(user.into()), version });
    }
    let committee = if user.committee_id == caller.user.committee_id {
        caller.committee
    } else {
        users.store.committee(user.committee_id).await?.ok_or(ErrorCode::UserNotFound)?
    };
    ok(UserResponse {
        user: View::Account(Box::new(AccountWithCommittee::of(user, committee))),
        version,
    })
}
