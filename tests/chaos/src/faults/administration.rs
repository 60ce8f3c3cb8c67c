//! Actions of super admins: create, change, close, reopen and erase accounts, and create subdomains.

use serde_json::json;

use crate::{
    account::{Account, SessionState},
    client::Call,
    expected::{Expected, Outcome},
    virtual_user::VirtualUser,
};

/// Maximum number of accounts per administrator.
const MOST: usize = 8;

impl VirtualUser {
    pub(crate) async fn administer(&mut self, token: &str) {
        let all = 0..self.people.len();
        let existing = all.filter(|at| self.people[*at].is_erased.is_exactly(&false));
        let existing: Vec<usize> = existing.collect();
        let Some(at) = Self::pick(&mut self.random, &existing) else {
            return self.create_account().await;
        };
        match self.random.below(100) {
            0..12 if existing.len() < MOST => self.create_account().await,
            0..45 => self.change_profile(token, at).await,
            45..75 => self.close_or_reopen(token, at).await,
            75..78 => self.erase_account(token, at).await,
            78..90 if self.people[at].is_open() => {
                self.people[at].sign_in(&mut self.client).await;
            }
            _ => self.use_a_session(at).await,
        }
    }

    async fn change_profile(&mut self, token: &str, at: usize) {
        let word = self.word();
        let profiles = ["MB", "TR", "CA", "SA"];
        let profile = Self::pick(&mut self.random, &profiles).unwrap_or("MB");
        let body = json!({ "role": word, "profile": profile, "isVerified": true });
        let call = Call::new("PUT", format!("/team/{}", self.people[at].id)).json(body);
        let response = self.call(token, call).await;
        let outcome = self.record_word(&word, &response);
        self.record_audited(outcome, true, "TEAM_MEMBER_UPDATED", word.clone());
        let person = &mut self.people[at];
        person.label.write(outcome, word);
        person.profile.write(outcome, profile.to_owned());
        person.is_verified.write(outcome, true);
    }

    async fn close_or_reopen(&mut self, token: &str, at: usize) {
        let before = self.people[at].is_active.clone();
        let opens = !before.allows(&true) || self.random.below(3) == 0;
        let id = self.people[at].id.clone();
        let call = Call::new("PUT", format!("/users/user-status/{id}"));
        let response = self.call(token, call.json(json!({ "isActive": opens }))).await;
        let outcome = response.outcome();
        self.people[at].is_active.write(outcome, opens);
        if !opens {
            self.people[at].end_sessions(outcome, "");
        }
        if !before.is_exactly(&opens) {
            self.record_audited(outcome, !before.allows(&opens), "USER_STATUS_CHANGED", id);
        }
    }

    async fn erase_account(&mut self, token: &str, at: usize) {
        let id = self.people[at].id.clone();
        let call = Call::new("DELETE", format!("/users/{id}")).json(json!({}));
        let outcome = self.call(token, call).await.outcome();
        self.people[at].is_erased.write(outcome, true);
        self.people[at].end_sessions(outcome, "");
        self.record_audited(outcome, true, "USER_DELETED", id);
    }

    /// Uses a session; an ended one must be rejected at once, also during faults.
    async fn use_a_session(&mut self, at: usize) {
        let sessions = &self.people[at].sessions;
        let Some(session) = Self::pick(&mut self.random, sessions) else {
            return;
        };
        let call = Call::new("GET", "/auth/check").with(&session.token);
        let response = self.client.send(&call).await;
        if response.is_done() && session.state == SessionState::Ended {
            let id = &self.people[at].id;
            let what = format!("an ended session of {id} is accepted");
            self.violation(&what);
        }
        self.people[at].record_response(&session.token, &response);
    }

    async fn create_account(&mut self) {
        // A password must not contain its owner's name.
        let (word, secret) = (self.word(), self.word());
        let email = format!("led{}.{}@example.org", self.number, self.people.len());
        let password = format!("mot de passe {secret}");
        let body = json!({ "name": "Amel", "lastName": word, "email": email, "password": password, "committeeID": self.committee });
        let call = Call::new("POST", "/users/register").json(body);
        let response = self.client.send(&call).await;
        let outcome = self.record_word(&word, &response);
        let id = response.text("/user/userID");
        let mut account = Account::new(id, [&email, &password, &word, "MB"]);
        // After an unknown outcome, signing in shows whether the account exists.
        let exists = outcome == Outcome::Acknowledged
            || (outcome == Outcome::Unknown && account.sign_in(&mut self.client).await);
        if !exists {
            // The account is not changed any more, and its address is not used again.
            account.is_erased = Expected::new(true);
            account.is_erased.write(Outcome::Unknown, false);
            account.id = String::new();
        }
        self.people.push(account);
    }

    pub(crate) async fn make_subdomain(&mut self, token: &str) {
        let word = self.word();
        let body = json!({ "domain": word, "rootdomain": "formation.example.org" });
        let call = Call::new("POST", "/cpanel/subdomain").json(body);
        let response = self.call(token, call).await;
        self.subdomains.push((word, response.outcome()));
    }
}
