//! `GET /auth/check`: the caller himself, and a token that is good for a while yet.

use axum::extract::State;
use common::{ApiResult, Now, SignedIn, ok};
use domain::user::SelfView;
use serde::Serialize;

use crate::Auth;

#[derive(Serialize)]
pub(crate) struct CheckResponse {
    user: SelfView,
}

pub(crate) async fn check(
    State(auth): State<Auth>,
    Now(now): Now,
    person: SignedIn,
) -> ApiResult<CheckResponse> {
    let id = person.user.user_id;
    let (activity, enrolment) = tokio::join!(
        auth.store.login_activity(id, SelfView::ACTIVITY, now),
        auth.store.enrolment(id)
    );
    let user = auth.sessions.show(person, activity?, enrolment?, now)?;
    let token = user.token().to_owned();
    ok(CheckResponse { user }).map(|told| told.authorized(&token))
}
