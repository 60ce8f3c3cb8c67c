//! `GET /auth/current-user`: the caller's account.

use common::{Reply, SignedIn, shown};
use domain::user::Account;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct CurrentUserResponse {
    user: Account,
}

pub(crate) async fn current_user(person: SignedIn) -> Reply<CurrentUserResponse> {
    shown(CurrentUserResponse {
        user: person.account(),
    })
}
