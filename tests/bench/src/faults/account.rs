//! What is known of an account: who has a hand in it knows what it may say, and which of its sessions go on.

use local::chance::Chance;
use serde_json::json;

use crate::{
    client::{Ask, Client, Heard},
    known::{Known, Outcome},
};

/// Whether a session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    GoesOn,
    /// Something that ends it may have been done.
    Perhaps,
    Ended,
}

#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) token: String,
    pub(crate) life: Life,
    /// It was refused where nothing had ended it: a clock was wrong, or something is.
    doubts: u32,
}

impl Session {
    pub(crate) fn may_be_used(&self) -> bool {
        self.life == Life::GoesOn && self.doubts < 5
    }
}

pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) password: Known<String>,
    pub(crate) last_name: Known<String>,
    pub(crate) profile: Known<String>,
    /// The label that an administrator gave, empty for none.
    pub(crate) label: Known<String>,
    pub(crate) is_verified: Known<bool>,
    pub(crate) is_active: Known<bool>,
    pub(crate) is_erased: Known<bool>,
    pub(crate) sessions: Vec<Session>,
}

impl Account {
    pub(crate) fn new(
        id: String,
        email: &str,
        password: &str,
        last_name: &str,
        profile: &str,
    ) -> Self {
        Self {
            id,
            email: email.to_owned(),
            password: Known::new(password.to_owned()),
            last_name: Known::new(last_name.to_owned()),
            profile: Known::new(profile.to_owned()),
            label: Known::new(String::new()),
            is_verified: Known::new(false),
            is_active: Known::new(true),
            is_erased: Known::new(false),
            sessions: Vec::new(),
        }
    }

    /// Whether it is surely there and open.
    pub(crate) fn is_open(&self) -> bool {
        self.is_active.is_surely(&true) && self.is_erased.is_surely(&false)
    }

    pub(crate) fn any_token(&self, chance: &mut Chance) -> Option<String> {
        let usable: Vec<_> = self
            .sessions
            .iter()
            .filter(|session| session.may_be_used())
            .collect();
        if usable.is_empty() {
            return None;
        }
        let at = usize::try_from(chance.below(usable.len() as u64)).unwrap_or(0);
        usable.get(at).map(|session| session.token.clone())
    }

    /// Notes what the session of `token` was answered.
    pub(crate) fn heard_with(&mut self, token: &str, heard: &Heard) {
        for session in self
            .sessions
            .iter_mut()
            .filter(|session| session.token == token)
        {
            session.doubts = if heard.status == 401 {
                session.doubts + 1
            } else {
                0
            };
        }
    }

    /// Signs in with the password that it surely or perhaps has: whether it did.
    pub(crate) async fn sign_in(&mut self, client: &mut Client) -> bool {
        for password in self.password.all().to_vec().into_iter().rev() {
            let ask = Ask::new("POST", "/auth/login")
                .json(json!({ "email": self.email, "password": password }));
            let heard = client.send(&ask).await;
            if heard.is_done() {
                self.password = Known::new(password);
                self.id = heard.text("/user/userID");
                self.sessions.push(Session {
                    token: heard.text("/user/token"),
                    life: Life::GoesOn,
                    doubts: 0,
                });
                return true;
            }
        }
        false
    }

    /// Something that ends all sessions but the one of `kept` had this `outcome`.
    pub(crate) fn end_sessions(&mut self, outcome: Outcome, kept: &str) {
        for session in self
            .sessions
            .iter_mut()
            .filter(|session| session.token != kept)
        {
            session.end(outcome);
        }
    }

    pub(crate) async fn change_password(&mut self, client: &mut Client, token: &str, new: &str) {
        let Some(old) = self.password.surely().cloned() else {
            return;
        };
        let body = json!({ "oldPassword": old, "newPassword": new, "confirmPassword": new });
        let heard = client
            .send(
                &Ask::new("PUT", "/users/reset-password")
                    .with(token)
                    .json(body),
            )
            .await;
        self.password.write(heard.outcome(), new.to_owned());
        self.end_sessions(heard.outcome(), token);
    }

    pub(crate) async fn sign_out(&mut self, client: &mut Client, chance: &mut Chance) {
        let Some(token) = self.any_token(chance) else {
            return;
        };
        let heard = client
            .send(&Ask::new("POST", "/auth/logout").with(&token))
            .await;
        for session in self
            .sessions
            .iter_mut()
            .filter(|session| session.token == token)
        {
            session.end(heard.outcome());
        }
    }
}

impl Session {
    fn end(&mut self, outcome: Outcome) {
        self.life = match (outcome, self.life) {
            (Outcome::Acknowledged, _) | (_, Life::Ended) => Life::Ended,
            (Outcome::Unknown, _) => Life::Perhaps,
            (Outcome::Refused, life) => life,
        };
    }
}
