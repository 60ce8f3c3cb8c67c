//! An account: the values that its fields may have, and its sessions.

use cloud::random::SeededRandom;
use serde_json::json;

use crate::{
    client::{Call, Client, Response},
    expected::{Expected, Outcome},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionState {
    Active,
    /// A request that ends it had an unknown outcome.
    Unclear,
    Ended,
}

#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) token: String,
    pub(crate) state: SessionState,
    /// Consecutive 401 responses; a wrong clock causes them, too.
    rejections: u32,
}

impl Session {
    fn is_usable(&self) -> bool {
        self.state == SessionState::Active && self.rejections < 5
    }

    fn end(&mut self, outcome: Outcome) {
        self.state = match (outcome, self.state) {
            (Outcome::Acknowledged, _) | (_, SessionState::Ended) => SessionState::Ended,
            (Outcome::Unknown, _) => SessionState::Unclear,
            (Outcome::Refused, state) => state,
        };
    }
}

pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) password: Expected<String>,
    pub(crate) last_name: Expected<String>,
    pub(crate) profile: Expected<String>,
    /// The role label that an administrator set; may be empty.
    pub(crate) label: Expected<String>,
    pub(crate) is_verified: Expected<bool>,
    pub(crate) is_active: Expected<bool>,
    pub(crate) is_erased: Expected<bool>,
    pub(crate) sessions: Vec<Session>,
}

impl Account {
    pub(crate) fn new(id: String, [email, password, last_name, profile]: [&str; 4]) -> Self {
        let expected = |text: &str| Expected::new(text.to_owned());
        Self {
            id,
            email: email.to_owned(),
            password: expected(password),
            last_name: expected(last_name),
            profile: expected(profile),
            label: expected(""),
            is_verified: Expected::new(false),
            is_active: Expected::new(true),
            is_erased: Expected::new(false),
            sessions: Vec::new(),
        }
    }

    /// Whether it certainly exists and is open.
    pub(crate) fn is_open(&self) -> bool {
        self.is_active.is_exactly(&true) && self.is_erased.is_exactly(&false)
    }

    /// Whether it is certainly closed or erased.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_active.is_exactly(&false) || self.is_erased.is_exactly(&true)
    }

    pub(crate) fn usable_sessions(&self) -> usize {
        let sessions = self.sessions.iter();
        sessions.filter(|session| session.is_usable()).count()
    }

    pub(crate) fn any_token(&self, random: &mut SeededRandom) -> Option<String> {
        let at = random.below(self.usable_sessions().max(1) as u64);
        let mut usable = self.sessions.iter().filter(|session| session.is_usable());
        let session = usable.nth(usize::try_from(at).ok()?);
        session.map(|session| session.token.clone())
    }

    /// The token of the newest session; empty if there is none.
    pub(crate) fn last_token(&self) -> String {
        let last = self.sessions.last();
        last.map(|session| session.token.clone()).unwrap_or_default()
    }

    fn session(&mut self, token: &str) -> Option<&mut Session> {
        let mut sessions = self.sessions.iter_mut();
        sessions.find(|session| session.token == token)
    }

    /// Records a response to a request with `token`.
    pub(crate) fn record_response(&mut self, token: &str, response: &Response) {
        if let Some(session) = self.session(token) {
            let is_rejected = response.status == 401;
            session.rejections = if is_rejected { session.rejections + 1 } else { 0 };
        }
    }

    /// Signs in with one of its possible passwords; returns whether that succeeded.
    pub(crate) async fn sign_in(&mut self, client: &mut Client) -> bool {
        for password in self.password.all().to_vec().into_iter().rev() {
            let body = json!({ "email": self.email, "password": password });
            let call = Call::new("POST", "/auth/login").json(body);
            let response = client.send(&call).await;
            if response.is_done() {
                self.password = Expected::new(password);
                self.id = response.text("/user/userID");
                self.sessions.push(Session {
                    token: response.text("/user/token"),
                    state: SessionState::Active,
                    rejections: 0,
                });
                return true;
            }
        }
        false
    }

    /// Records the outcome of a request that ends all sessions except the one with the token `kept`.
    pub(crate) fn end_sessions(&mut self, outcome: Outcome, kept: &str) {
        for session in &mut self.sessions {
            if session.token != kept {
                session.end(outcome);
            }
        }
    }

    pub(crate) async fn change_password(&mut self, client: &mut Client, token: &str, new: &str) {
        let Some(old) = self.password.exact().cloned() else {
            return;
        };
        let body = json!({ "oldPassword": old, "newPassword": new, "confirmPassword": new });
        let call = Call::new("PUT", "/users/reset-password").with(token);
        let outcome = client.send(&call.json(body)).await.outcome();
        self.password.write(outcome, new.to_owned());
        self.end_sessions(outcome, token);
    }

    pub(crate) async fn sign_out(&mut self, client: &mut Client, random: &mut SeededRandom) {
        let Some(token) = self.any_token(random) else {
            return;
        };
        let call = Call::new("POST", "/auth/logout").with(&token);
        let outcome = client.send(&call).await.outcome();
        if let Some(session) = self.session(&token) {
            session.end(outcome);
        }
    }
}
