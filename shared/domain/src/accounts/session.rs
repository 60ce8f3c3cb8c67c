//! Sessions, which begin with a sign-in.

use serde::{Deserialize, Serialize};

use crate::{Instant, SessionId, UserId, agent::Agent, amr::Method, user::User};

/// A session. It is valid until it expires and while its `epoch` equals its user's: raising the user's epoch ends all
/// sessions at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The session's identifier, the `sid` of its tokens.
    pub sid: SessionId,
    /// The account that is signed in.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// Time of the sign-in.
    pub created_at: Instant,
    /// Time of the last request, accurate to five minutes.
    pub last_active: Instant,
    /// First moment at which it is no longer valid.
    pub expires_at: Instant,
    /// The user's epoch at sign-in, or after a password change in this session.
    pub epoch: u64,
    /// When the user last authenticated.
    pub auth_time: Instant,
    /// The methods used for it.
    pub amr: Vec<Method>,
    /// The client's IP address at sign-in.
    pub ip: String,
    /// The client's browser and device at sign-in.
    #[serde(flatten)]
    pub agent: Agent,
}

/// A session in API responses.
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
    /// The view of `session`; it is marked as current if its identifier is `current`.
    pub fn of(session: Session, current: SessionId) -> Self {
        let Session { sid, created_at, last_active, ip, agent, .. } = session;
        Self { sid, created_at, last_active, ip, agent, current: sid == current }
    }
}

impl Session {
    /// Whether the session is valid at `now`: it belongs to `user`, who is active and has the same epoch, and it has
    /// not expired.
    pub fn is_valid(&self, user: &User, now: Instant) -> bool {
        self.user_id == user.user_id
            && user.is_active
            && self.epoch == user.epoch
            && now < self.expires_at
    }
}
