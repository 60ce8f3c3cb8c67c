//! `GET /auth/current-user`: returns the caller's account.

use common::{ApiResult, SignedIn, ok};
use domain::user::Account;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct CurrentUserResponse {
    user: Account,
}

pub(crate) async fn current_user(person: SignedIn) -> ApiResult<CurrentUserResponse> {
    ok(CurrentUserResponse { user: person.account() })
}
