//! `GET /auth/current-user`: the caller's account.

use common::{Reply, SignedIn, shown};
use domain::user::Account;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct Shown {
    user: Account,
}

pub(crate) async fn current_user(person: SignedIn) -> Reply<Shown> {
    shown(Shown {
        user: person.account(),
    })
}
