//! `GET /auth/sessions`, `DELETE /auth/sessions/{sid}`: where the caller is signed in, and how he
//! ends it from afar.

use axum::extract::State;
use common::{Message, Now, Path, Refusal, Reply, SignedIn, shown, told};
use domain::{Instant, SessionId, agent::Agent};
use serde::Serialize;

use crate::{Auth, logout::Nothing};

#[derive(Serialize)]
pub(crate) struct Shown {
    sessions: Vec<ShownSession>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownSession {
    sid: SessionId,
    created_at: Instant,
    last_active: Instant,
    ip: String,
    #[serde(flatten)]
    agent: Agent,
    current: bool,
}

/// Newest first, of the last hundred that began.
pub(crate) async fn list(State(auth): State<Auth>, Now(now): Now, person: SignedIn) -> Reply<Shown> {
    let sessions = auth.store.sessions(&person.user, now).await?.into_iter().map(|session| ShownSession {
        sid: session.sid,
        created_at: session.created_at,
        last_active: session.last_active,
        ip: session.ip,
        agent: session.agent,
        current: session.sid == person.session.sid,
    });
    shown(Shown { sessions: sessions.collect() })
}

pub(crate) async fn end(State(auth): State<Auth>, Now(now): Now, person: SignedIn, Path(sid): Path<SessionId>) -> Reply<Nothing> {
    if !auth.store.end_session(&person.user, sid, now).await? {
        return Err(Refusal::SessionNotFound.into());
    }
    told(Message::SessionEnded, Nothing {})
}
