//! `POST /auth/logout`: ends the caller's session.

use axum::extract::State;
use common::{ApiResult, Empty, Message, Now, SignedIn, success};

use crate::Auth;

/// Also succeeds if a concurrent request has just ended the session.
pub(crate) async fn logout(
    State(auth): State<Auth>,
    Now(now): Now,
    person: SignedIn,
) -> ApiResult<Empty> {
    auth.store.end_session(&person.user, person.session.sid, now).await?;
    success(Message::LogoutSuccess, Empty {})
}
