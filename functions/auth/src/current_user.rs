//! `GET /auth/current-user`: returns the caller's account.

use common::{ApiResult, SignedIn, ok};
use domain::user::AccountWithCommittee;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct CurrentUserResponse {
    user: AccountWithCommittee,
}

pub(crate) async fn current_user(person: SignedIn) -> ApiResult<CurrentUserResponse> {
    ok(CurrentUserResponse { user: person.account() })
}
