//! `GET /auth/check`: returns the caller's account with their last sign-ins, and renews the access token after half its
//! lifetime.

use axum::extract::State;
use common::{ApiResult, Now, SignedIn, ok};
use domain::user::OwnAccount;
use serde::Serialize;

use crate::Auth;

#[derive(Serialize)]
pub(crate) struct CheckResponse {
    user: OwnAccount,
}

pub(crate) async fn check(
    State(auth): State<Auth>,
    Now(now): Now,
    person: SignedIn,
) -> ApiResult<CheckResponse> {
    let id = person.user.user_id;
    let (activity, enrolment) = tokio::join!(
        auth.store.login_activity(id, OwnAccount::ACTIVITY, now),
        auth.store.enrolment(id)
    );
    let user = auth.sessions.account_of_request(person, activity?, enrolment?, now)?;
    let token = user.token().to_owned();
    ok(CheckResponse { user }).map(|response| response.authorized(&token))
}
