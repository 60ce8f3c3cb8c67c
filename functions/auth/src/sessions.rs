//! `GET /auth/sessions`: lists the caller's sessions. `DELETE /auth/sessions/{sid}`: ends one of them.

use axum::extract::State;
use common::{ApiResult, Empty, ErrorCode, Message, Now, Path, SignedIn, ok, success};
use domain::{SessionId, session::SessionView};
use serde::Serialize;

use crate::Auth;

#[derive(Serialize)]
pub(crate) struct SessionsResponse {
    sessions: Vec<SessionView>,
}

/// Lists the latest 100 valid sessions, newest first.
pub(crate) async fn list(
    State(auth): State<Auth>,
    Now(now): Now,
    person: SignedIn,
) -> ApiResult<SessionsResponse> {
    let sessions = auth.store.sessions(&person.user, now).await?.into_iter();
    let sessions = sessions.map(|session| SessionView::of(session, person.session.sid));
    ok(SessionsResponse { sessions: sessions.collect() })
}

pub(crate) async fn end(
    State(auth): State<Auth>,
    Now(now): Now,
    person: SignedIn,
    Path(sid): Path<SessionId>,
) -> ApiResult<Empty> {
    if !auth.store.end_session(&person.user, sid, now).await? {
        return Err(ErrorCode::SessionNotFound.into());
    }
    success(Message::SessionEnded, Empty {})
}
