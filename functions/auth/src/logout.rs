//! `POST /auth/logout`: the caller's session ends.

use axum::extract::State;
use common::{Message, Nothing, Now, Reply, SignedIn, told};

use crate::Auth;

/// A session that somebody else has just ended is ended all the same.
pub(crate) async fn logout(
    State(auth): State<Auth>,
    Now(now): Now,
    person: SignedIn,
) -> Reply<Nothing> {
    auth.store
        .end_session(&person.user, person.session.sid, now)
        .await?;
    told(Message::LogoutSuccess, Nothing {})
}
