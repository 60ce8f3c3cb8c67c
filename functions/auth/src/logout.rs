//! `POST /auth/logout`: the caller's session ends.

use axum::extract::State;
use common::{ApiResult, Empty, Message, Now, SignedIn, success};

use crate::Auth;

/// A session that somebody else has just ended is ended all the same.
pub(crate) async fn logout(
    State(auth): State<Auth>,
    Now(now): Now,
    person: SignedIn,
) -> ApiResult<Empty> {
    auth.store
        .end_session(&person.user, person.session.sid, now)
        .await?;
    success(Message::LogoutSuccess, Empty {})
}
