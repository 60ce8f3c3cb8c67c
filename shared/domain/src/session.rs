//! Sessions: one sign-in and everything that is done with it.

use serde::{Deserialize, Serialize};

use crate::{Instant, SessionId, UserId, agent::Agent, user::User};

/// How a person proved who he is; the words of RFC 8176, but `link` and `recovery`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A password.
    Pwd,
    /// A one-time code of an authenticator.
    Otp,
    /// A code that came as a text message.
    Sms,
    /// A code or link that came by mail.
    Link,
    /// A recovery code.
    Recovery,
}

/// A session. It is alive while its time lasts *and* its `epoch` is its user's: raising the
/// user's epoch ends all sessions at once, whichever they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Which one: the `sid` of its tokens.
    pub sid: SessionId,
    /// Whose.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// When it began.
    pub created_at: Instant,
    /// When it was last used, at most five minutes old.
    pub last_active: Instant,
    /// When it ends by itself.
    pub expires_at: Instant,
    /// The epoch of its user when it began, or when its own password change raised it.
    pub epoch: u64,
    /// When the person last proved who he is.
    pub auth_time: Instant,
    /// By what.
    pub amr: Vec<Method>,
    /// The address that it began at.
    pub ip: String,
    /// What it began with.
    #[serde(flatten)]
    pub agent: Agent,
}

/// A session as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    sid: SessionId,
    created_at: Instant,
    last_active: Instant,
    ip: String,
    #[serde(flatten)]
    agent: Agent,
    current: bool,
}

impl SessionView {
    /// `session`, seen from the session `current`.
    pub fn of(session: Session, current: SessionId) -> Self {
        Self {
            sid: session.sid,
            created_at: session.created_at,
            last_active: session.last_active,
            ip: session.ip,
            agent: session.agent,
            current: session.sid == current,
        }
    }
}

impl Session {
    /// Whether this session of `user` counts at `now`.
    pub fn is_alive(&self, user: &User, now: Instant) -> bool {
        self.user_id == user.user_id
            && user.is_active
            && self.epoch == user.epoch
            && now < self.expires_at
    }
}
