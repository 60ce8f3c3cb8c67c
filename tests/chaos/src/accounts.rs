//! Accounts: registered, verified, renamed, closed, erased, and their passwords and sessions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    client::{Call, Client, Expected, Outcome},
    users::VirtualUser,
};

/// Addresses per user; an address is reused once its account is erased.
const ADDRESSES: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) token: String,
    pub(crate) has_ended: Expected<bool>,
    /// Consecutive 401 responses; a wrong clock causes them, too.
    pub(crate) rejections: u32,
}

/// The values that the fields of an account may have.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// Empty if it is not known to exist.
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
    /// The courses with few seats that they ever tried to register for, and whether the registration is active.
    pub(crate) registered: BTreeMap<String, Expected<bool>>,
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
            registered: BTreeMap::new(),
        }
    }

    /// Whether it certainly exists and is open.
    pub(crate) fn is_open(&self) -> bool {
        self.is_active.is(&true) && self.is_erased.is(&false)
    }

    /// Whether it is certainly closed or erased.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_active.is(&false) || self.is_erased.is(&true)
    }

    pub(crate) fn usable_tokens(&self) -> Vec<String> {
        let is_usable = |one: &&Session| one.has_ended.is(&false) && one.rejections < 5;
        self.sessions.iter().filter(is_usable).map(|session| session.token.clone()).collect()
    }

    /// Signs in with one of its possible passwords; returns whether that succeeded.
    pub(crate) async fn sign_in(&mut self, client: &mut Client) -> bool {
        for password in self.password.0.clone().into_iter().rev() {
            let body = json!({ "email": self.email, "password": password });
            let response = client.send(&Call::new("", "POST /auth/login", body)).await;
            if response.is_done() {
                self.password = Expected::new(password);
                self.id = response.text("/user/userID");
                let (token, has_ended) = (response.text("/user/token"), Expected::new(false));
                self.sessions.push(Session { token, has_ended, rejections: 0 });
                return true;
            }
        }
        false
    }

    /// Records the outcome of a request that ends all sessions except the one with the token `kept`.
    fn end_sessions(&mut self, outcome: Outcome, kept: &str) {
        for session in self.sessions.iter_mut().filter(|session| session.token != kept) {
            session.has_ended.write(outcome, true);
        }
    }
}

/// Actions on the account `at`, with its own session `token`.
impl VirtualUser {
    pub(crate) async fn rename(&mut self, at: usize, token: &str) {
        let (word, line) = (self.word(), format!("PUT /users/{}", self.people[at].id));
        let response = self.call_as(token, &line, json!({ "lastName": word })).await;
        let outcome = self.record_word(&word, &response);
        self.people[at].last_name.write(outcome, word);
    }

    pub(crate) async fn change_password(&mut self, at: usize, token: &str) {
        let new = format!("mot de passe {}", self.word());
        let Some(old) = self.people[at].password.exact() else { return };
        let body = json!({ "oldPassword": old, "newPassword": new, "confirmPassword": new });
        let outcome = self.call_as(token, "PUT /users/reset-password", body).await.outcome;
        self.people[at].password.write(outcome, new);
        self.people[at].end_sessions(outcome, token);
    }

    pub(crate) async fn sign_out(&mut self, at: usize, token: &str) {
        let outcome = self.call_as(token, "POST /auth/logout", Value::Null).await.outcome;
        let sessions = self.people[at].sessions.iter_mut();
        for session in sessions.filter(|session| session.token == token) {
            session.has_ended.write(outcome, true);
        }
    }

    async fn erase_own(&mut self, at: usize, token: &str) {
        let person = &self.people[at];
        let Some(password) = person.password.exact() else { return };
        let (line, body) =
            (format!("DELETE /users/{}", person.id), json!({ "password": password }));
        let outcome = self.call_as(token, &line, body).await.outcome;
        self.people[at].is_erased.write(outcome, true);
        self.people[at].end_sessions(outcome, "");
    }

    /// Verifies the address with the code of the newest mail to it, if there is one, in the session with `token`. The
    /// first time this ends the other sessions.
    async fn verify_address(&mut self, at: usize, token: &str) {
        if self.people[at].is_verified.is(&true) {
            return;
        }
        let Some(code) = self.mailed_code(at) else { return };
        let body = json!({ "email": self.people[at].email, "code": code });
        let outcome = self.call_as(token, "PUT /users/email-verification", body).await.outcome;
        let person = &mut self.people[at];
        person.is_verified.write(outcome, true);
        person.end_sessions(outcome, token);
        if outcome != Outcome::Refused {
            // A process with a wrong clock finds the session expired, and ends it with the others.
            person.end_sessions(Outcome::Unknown, "");
        }
    }

    /// The six-digit code in the newest mail to the account `at`.
    fn mailed_code(&self, at: usize) -> Option<String> {
        let mails = self.recorder.newest_mails(400);
        let mut mails = mails.iter().filter(|mail| mail["subject"].is_string());
        let text = mails.find(|mail| mail["to"] == self.people[at].email)?["text"].as_str()?;
        let mut runs = text.split(|letter: char| !letter.is_ascii_digit());
        runs.find(|run| run.len() == 6).map(str::to_owned)
    }
}

/// Actions on accounts that only this user changes.
impl VirtualUser {
    /// Acts on one of the accounts as its owner.
    pub(crate) async fn register_and_leave(&mut self) {
        let Some((at, token)) = self.someone().await else { return };
        let Some(token) = token else {
            self.people[at].sign_in(&mut self.client).await;
            return;
        };
        match self.random.below(100) {
            0..15 => self.register().await,
            15..30 => self.verify_address(at, &token).await,
            30..50 => self.rename(at, &token).await,
            50..62 => self.change_password(at, &token).await,
            62..72 => self.sign_out(at, &token).await,
            72..84 => drop(self.people[at].sign_in(&mut self.client).await),
            84..90 => self.erase_own(at, &token).await,
            _ => self.use_a_session(at).await,
        }
    }

    /// Acts on one of the accounts as a super admin.
    pub(crate) async fn administer(&mut self) {
        let Some((at, _)) = self.someone().await else { return };
        match self.random.below(100) {
            0..12 => self.register().await,
            12..45 => self.change_profile(at).await,
            45..75 => self.close_or_reopen(at).await,
            75..78 => self.erase_account(at).await,
            78..90 if self.people[at].is_open() => {
                self.people[at].sign_in(&mut self.client).await;
            }
            _ => self.use_a_session(at).await,
        }
    }

    /// One of the existing accounts and, if it has one, a token of it; registers one if there is none.
    async fn someone(&mut self) -> Option<(usize, Option<String>)> {
        let exists = |one: &Account| !one.id.is_empty() && one.is_erased.is(&false);
        let existing: Vec<usize> =
            (1..self.people.len()).filter(|at| exists(&self.people[*at])).collect();
        let Some(at) = self.pick(&existing) else {
            self.register().await;
            return None;
        };
        let tokens = self.people[at].usable_tokens();
        Some((at, self.pick(&tokens)))
    }

    /// Registers one address twice concurrently, if one is free.
    async fn register(&mut self) {
        let is_used = |email: &String| {
            let mut people = self.people.iter();
            people.any(|person| person.email == *email && !person.is_erased.is(&true))
        };
        let address = |number| format!("new{}.{number}@example.org", self.number);
        let mut addresses = (0..ADDRESSES).map(address);
        let Some(email) = addresses.find(|email| !is_used(email)) else { return };
        // Last name and password of each; a password must not contain its owner's name.
        let attempts = [(); 2].map(|()| (self.word(), format!("mot de passe {}", self.word())));
        let calls = attempts.clone().map(|(word, password)| {
            let body = json!({
                "name": "Amel", "lastName": word, "email": email, "password": password, "committeeID": self.committee,
            });
            Call::new("", "POST /users/register", body)
        });
        let mut other = self.client.clone();
        other.random = cloud::random::SeededRandom::new(self.client.random.below(u64::MAX));
        let (first, second) = tokio::join!(self.client.send(&calls[0]), other.send(&calls[1]));
        let (mut winners, mut candidates) = (Vec::new(), Vec::new());
        for ((word, password), response) in attempts.iter().zip([first, second]) {
            let id = response.text("/user/userID");
            let account = Account::new(id, [&email, password, word, "MB"]);
            match self.record_word(word, &response) {
                Outcome::Acknowledged => winners.push(account),
                Outcome::Unknown => candidates.push(account),
                Outcome::Refused => {}
            }
        }
        self.races.push((email, winners.len()));
        if !winners.is_empty() {
            return self.people.append(&mut winners);
        }
        // After an unknown outcome, signing in shows whether the account exists; if not, the
        // address is not used again.
        for mut account in candidates {
            let exists = account.sign_in(&mut self.client).await;
            if !exists {
                account.is_erased.write(Outcome::Unknown, true);
            }
            self.people.push(account);
            if exists {
                return;
            }
        }
    }

    async fn change_profile(&mut self, at: usize) {
        let word = self.word();
        let profile = self.pick(&["MB", "TR", "CA", "SA"]).unwrap_or("MB");
        let body = json!({ "role": word, "profile": profile, "isVerified": true });
        let response = self.call(&format!("PUT /team/{}", self.people[at].id), body).await;
        let outcome = self.record_word(&word, &response);
        self.audit(outcome, true, ("TEAM_MEMBER_UPDATED", word.clone()));
        let person = &mut self.people[at];
        person.label.write(outcome, word);
        person.profile.write(outcome, profile.to_owned());
        person.is_verified.write(outcome, true);
    }

    async fn close_or_reopen(&mut self, at: usize) {
        let (id, before) = (self.people[at].id.clone(), self.people[at].is_active.clone());
        let opens = !before.allows(&true) || self.random.below(3) == 0;
        let line = format!("PUT /users/user-status/{id}");
        let outcome = self.call(&line, json!({ "isActive": opens })).await.outcome;
        self.people[at].is_active.write(outcome, opens);
        if !opens {
            self.people[at].end_sessions(outcome, "");
        }
        if !before.is(&opens) {
            self.audit(outcome, !before.allows(&opens), ("USER_STATUS_CHANGED", id));
        }
    }

    async fn erase_account(&mut self, at: usize) {
        let id = self.people[at].id.clone();
        let outcome = self.call(&format!("DELETE /users/{id}"), json!({})).await.outcome;
        self.people[at].is_erased.write(outcome, true);
        self.people[at].end_sessions(outcome, "");
        self.audit(outcome, true, ("USER_DELETED", id));
    }

    /// Uses a session; an ended one must be rejected at once, also during faults.
    async fn use_a_session(&mut self, at: usize) {
        let sessions = self.people[at].sessions.clone();
        let Some(session) = self.pick(&sessions) else { return };
        let response = self.call_as(&session.token, "GET /auth/check", Value::Null).await;
        if response.is_done() && session.has_ended.is(&true) {
            self.violation(format!("an ended session of {} is accepted", self.people[at].id));
        }
    }
}
