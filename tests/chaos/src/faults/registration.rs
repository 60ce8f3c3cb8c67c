//! Actions of newcomers: two register one address concurrently; the winner verifies it, uses the account and erases it,
//! and the address is free again.

use cloud::recorder::Recorder;
use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::{
    account::Account,
    client::Call,
    expected::{Outcome, Race},
    virtual_user::VirtualUser,
};

/// Addresses per newcomer; an address is reused once its account is erased.
const ADDRESSES: usize = 6;

impl VirtualUser {
    pub(crate) async fn register_and_leave(&mut self) {
        let exists = |one: &Account| !one.id.is_empty() && one.is_erased.is_exactly(&false);
        let all = 0..self.people.len();
        let existing: Vec<usize> = all.filter(|at| exists(&self.people[*at])).collect();
        let Some(at) = Self::pick(&mut self.random, &existing) else {
            return self.race().await;
        };
        let person = &mut self.people[at];
        let Some(token) = person.any_token(&mut self.random) else {
            person.sign_in(&mut self.client).await;
            return;
        };
        match self.random.below(100) {
            0..15 if existing.len() < ADDRESSES => self.race().await,
            0..30 => self.verify_address(at, &token).await,
            30..50 => self.rename(at, &token).await,
            50..62 => {
                let new = format!("mot de passe {}", self.word());
                let person = &mut self.people[at];
                person.change_password(&mut self.client, &token, &new).await;
            }
            62..72 => person.sign_out(&mut self.client, &mut self.random).await,
            72..84 => drop(person.sign_in(&mut self.client).await),
            84..90 => self.erase_own(at, &token).await,
            _ => {
                let call = Call::new("GET", "/auth/check").with(&token);
                self.client.send(&call).await;
            }
        }
    }

    /// Registers one address twice concurrently, once in each process.
    async fn race(&mut self) {
        let is_used = |email: &String| {
            let mut people = self.people.iter();
            people.any(|person| person.email == *email && !person.is_erased.is_exactly(&true))
        };
        let address = |number| format!("new{}.{number}@example.org", self.number);
        let mut addresses = (0..ADDRESSES).map(address);
        let Some(email) = addresses.find(|email| !is_used(email)) else {
            return;
        };
        // Last name and password of each; a password must not contain its owner's name.
        let attempts = [(); 2].map(|()| (self.word(), format!("mot de passe {}", self.word())));
        let calls = attempts.clone().map(|(word, password)| {
            let body = json!({
                "name": "Amel", "lastName": word, "email": email, "password": password, "committeeID": self.committee,
            });
            Call::new("POST", "/users/register").json(body)
        });
        let mut other = self.client.fork();
        let first = self.client.send_to(0, &calls[0]);
        let (first, second) = tokio::join!(first, other.send_to(1, &calls[1]));
        let (mut winners, mut candidates) = (Vec::new(), Vec::new());
        for ((word, password), response) in attempts.iter().zip([first, second]) {
            let outcome = self.record_word(word, &response);
            let id = response.text("/user/userID");
            let account = Account::new(id, [&email, password, word, "MB"]);
            match outcome {
                Outcome::Acknowledged => {
                    winners.push(account.id.clone());
                    self.people.push(account);
                }
                Outcome::Unknown => candidates.push(account),
                Outcome::Refused => {}
            }
        }
        let has_winner = !winners.is_empty();
        self.races.push(Race { email, winners });
        if has_winner {
            return;
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

    /// Verifies the address with the code of the newest mail to it, if there is one, and every other time in the
    /// session with `token`. The first time this ends the other sessions.
    async fn verify_address(&mut self, at: usize, token: &str) {
        let person = &mut self.people[at];
        if person.is_verified.is_exactly(&true) {
            return;
        }
        let mut code = mailed_code(&self.recorder, &person.email);
        if code.is_none() {
            sleep(Duration::from_millis(300)).await;
            code = mailed_code(&self.recorder, &person.email);
        }
        let Some(code) = code else { return };
        let body = json!({ "email": person.email, "code": code });
        let mut call = Call::new("PUT", "/users/email-verification").json(body);
        let kept = if self.random.below(2) == 0 { token } else { "" };
        if !kept.is_empty() {
            call = call.with(kept);
        }
        let outcome = self.client.send(&call).await.outcome();
        person.is_verified.write(outcome, true);
        person.end_sessions(outcome, kept);
        if outcome == Outcome::Acknowledged {
            // A process with a wrong clock finds the session expired, and ends it with the others.
            person.end_sessions(Outcome::Unknown, "");
        }
    }

    async fn rename(&mut self, at: usize, token: &str) {
        let word = self.word();
        let call = Call::new("PUT", format!("/users/{}", self.people[at].id));
        let call = call.with(token).json(json!({ "lastName": word }));
        let response = self.client.send(&call).await;
        let outcome = self.record_word(&word, &response);
        self.people[at].last_name.write(outcome, word);
        self.people[at].record_response(token, &response);
    }

    async fn erase_own(&mut self, at: usize, token: &str) {
        let person = &mut self.people[at];
        let Some(password) = person.password.exact() else {
            return;
        };
        let call = Call::new("DELETE", format!("/users/{}", person.id));
        let call = call.with(token).json(json!({ "password": password }));
        let response = self.client.send(&call).await;
        person.is_erased.write(response.outcome(), true);
        person.end_sessions(response.outcome(), "");
        person.record_response(token, &response);
    }
}

/// The six-digit code in the newest mail to `email`.
fn mailed_code(recorder: &Recorder, email: &str) -> Option<String> {
    let mails = recorder.newest_mails(400);
    let mut mails = mails.iter().filter(|mail| mail["subject"].is_string());
    let text = mails.find(|mail| mail["to"] == email)?["text"].as_str()?;
    let mut runs = text.split(|letter: char| !letter.is_ascii_digit());
    runs.find(|run| run.len() == 6).map(str::to_owned)
}
