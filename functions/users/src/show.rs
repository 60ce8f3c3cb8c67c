//! `GET /users/{userId}`: a person, as much of him as the caller may see.

use axum::extract::State;
use common::{ApiResult, ErrorCode, Path, SignedIn, ok};
use domain::{
    UserId,
    permissions::Right,
    user::{Account, Card},
};
use serde::Serialize;

use crate::Users;

#[derive(Serialize)]
pub(crate) struct UserResponse {
    user: View,
    /// Guards a change; only for those who may make one.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum View {
    Account(Box<Account>),
    Card(Card),
}

pub(crate) async fn show(
    State(users): State<Users>,
    person: SignedIn,
    Path(id): Path<UserId>,
) -> ApiResult<UserResponse> {
    if id == person.user.user_id {
        return ok(UserResponse {
            user: View::Account(Box::new(person.account())),
            version: None,
        });
    }
    person.must_be_verified()?;
    let caller = person.user.standing();
    let user = users
        .store
        .user(id)
        .await?
        .filter(|user| caller.may(Right::ReadCards, user.user_id, user.committee_id));
    let user = user.ok_or(ErrorCode::UserNotFound)?;
    let version = caller.may_edit(&user.standing()).then_some(user.version);
    if !caller.may(Right::ReadAccounts, user.user_id, user.committee_id) {
        return ok(UserResponse {
            user: View::Card(user.into()),
            version,
        });
    }
    let committee = if user.committee_id == person.user.committee_id {
        person.committee
    } else {
        users
            .store
            .committee(user.committee_id)
            .await?
            .ok_or(ErrorCode::UserNotFound)?
    };
    ok(UserResponse {
        user: View::Account(Box::new(Account::of(user, committee))),
        version,
    })
}
