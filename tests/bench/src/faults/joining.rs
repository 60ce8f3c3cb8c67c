//! Newcomers: two of them want the same address at the same moment; who has got it proves it, uses the account and
//! leaves, and the address is free again.

use local::recorder::Recorder;
use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::{account::Account, actor::Actor, client::Ask, known::Outcome};

/// So many addresses each of them uses, one after the other and then again.
const ADDRESSES: usize = 6;

/// Two who wanted one address.
pub(crate) struct Race {
    pub(crate) email: String,
    /// Who was told that he has it, by his account.
    pub(crate) winners: Vec<String>,
}

impl Actor {
    pub(crate) async fn join_and_leave(&mut self) {
        let there: Vec<usize> = (0..self.people.len())
            .filter(|at| {
                !self.people[*at].id.is_empty() && self.people[*at].is_erased.is_surely(&false)
            })
            .collect();
        let Some(at) = Self::any(&mut self.chance, &there).map(|place| there[place]) else {
            return self.race().await;
        };
        let Some(token) = self.people[at].any_token(&mut self.chance) else {
            self.people[at].sign_in(&mut self.client).await;
            return;
        };
        match self.chance.below(100) {
            0..15 if there.len() < ADDRESSES => self.race().await,
            0..30 => self.prove_address(at).await,
            30..50 => self.rename(at, &token).await,
            50..62 => {
                let word = self.word();
                self.people[at]
                    .change_password(&mut self.client, &token, &format!("mot de passe {word}"))
                    .await;
            }
            62..72 => {
                self.people[at]
                    .sign_out(&mut self.client, &mut self.chance)
                    .await
            }
            72..84 => drop(self.people[at].sign_in(&mut self.client).await),
            84..90 => self.erase_own(at, &token).await,
            _ => drop(
                self.client
                    .send(&Ask::new("GET", "/auth/check").with(&token))
                    .await,
            ),
        }
    }

    /// Two register the same address at once, one at each process.
    async fn race(&mut self) {
        let is_used = |email: &String| {
            self.people
                .iter()
                .any(|person| person.email == *email && !person.is_erased.is_surely(&true))
        };
        let free = (0..ADDRESSES)
            .map(|number| format!("new{}.{number}@example.org", self.number))
            .find(|email| !is_used(email));
        let Some(email) = free else { return };
        // Name and password of each; no password holds its owner's name.
        let wishes = [(); 2].map(|()| (self.word(), format!("mot de passe {}", self.word())));
        let asks = wishes.clone().map(|(word, password)| {
            let body = json!({
                "name": "Amel", "lastName": word, "email": email, "password": password, "committeeID": self.committee,
            });
            Ask::new("POST", "/users/register").json(body)
        });
        let mut other = self.client.beside();
        let (first, second) =
            tokio::join!(self.client.send_to(0, &asks[0]), other.send_to(1, &asks[1]));
        let mut winners = Vec::new();
        let mut is_open = false;
        let mut candidates = Vec::new();
        for ((word, password), heard) in wishes.iter().zip([first, second]) {
            let outcome = self.tried(word, &heard);
            let account = Account::new(heard.text("/user/userID"), &email, password, word, "MB");
            match outcome {
                Outcome::Acknowledged => {
                    winners.push(account.id.clone());
                    self.people.push(account);
                }
                Outcome::Unknown => {
                    is_open = true;
                    candidates.push(account);
                }
                Outcome::Refused => {}
            }
        }
        self.races.push(Race {
            email,
            winners: winners.clone(),
        });
        // Whoever was not told finds out by signing in; who cannot leaves the address alone from then on.
        if is_open && winners.is_empty() {
            for mut account in candidates {
                if account.sign_in(&mut self.client).await {
                    return self.people.push(account);
                }
                account.is_erased.write(Outcome::Unknown, true);
                self.people.push(account);
            }
        }
    }

    /// With the code of the last mail to the address, when it has come.
    async fn prove_address(&mut self, at: usize) {
        let person = &mut self.people[at];
        if person.is_verified.is_surely(&true) {
            return;
        }
        let mut code = mailed_code(&self.recorder, &person.email);
        if code.is_none() {
            sleep(Duration::from_millis(300)).await;
            code = mailed_code(&self.recorder, &person.email);
        }
        let Some(code) = code else { return };
        let ask = Ask::new("PUT", "/users/email-verification")
            .json(json!({ "email": person.email, "code": code }));
        let heard = self.client.send(&ask).await;
        person.is_verified.write(heard.outcome(), true);
    }

    async fn rename(&mut self, at: usize, token: &str) {
        let word = self.word();
        let ask = Ask::new("PUT", format!("/users/{}", self.people[at].id))
            .with(token)
            .json(json!({ "lastName": word }));
        let heard = self.client.send(&ask).await;
        let outcome = self.tried(&word, &heard);
        self.people[at].last_name.write(outcome, word);
        self.people[at].heard_with(token, &heard);
    }

    async fn erase_own(&mut self, at: usize, token: &str) {
        let person = &mut self.people[at];
        let Some(password) = person.password.surely() else {
            return;
        };
        let ask = Ask::new("DELETE", format!("/users/{}", person.id))
            .with(token)
            .json(json!({ "password": password }));
        let heard = self.client.send(&ask).await;
        let outcome = heard.outcome();
        person.is_erased.write(outcome, true);
        person.end_sessions(outcome, "");
        person.heard_with(token, &heard);
    }
}

/// The six digits of the newest mail to `email`.
fn mailed_code(recorder: &Recorder, email: &str) -> Option<String> {
    let mails = recorder.newest_mails(400);
    let text = mails
        .iter()
        .find(|mail| mail["to"] == email && mail["subject"].as_str().is_some())?["text"]
        .as_str()?
        .to_owned();
    let digits = text
        .split(|letter: char| !letter.is_ascii_digit())
        .find(|run| run.len() == 6)?;
    Some(digits.to_owned())
}
