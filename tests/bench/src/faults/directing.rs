//! What super admins do: they look after accounts, give and take standing, close, open and erase; and they have
//! subdomains made.

use serde_json::json;

use crate::{
    account::Account,
    actor::Actor,
    client::Ask,
    known::{Known, Outcome},
};

/// So many accounts each looks after.
const MOST: usize = 8;

/// Something that stands in the audit once, if it was done.
pub(crate) struct Deed {
    pub(crate) actor: String,
    pub(crate) action: &'static str,
    /// Whom or what it was done to: an identifier, or a word in what changed.
    pub(crate) target: String,
    /// Whether it was done; perhaps if not.
    pub(crate) is_sure: bool,
}

impl Actor {
    pub(crate) async fn direct(&mut self, token: &str) {
        let there: Vec<usize> = (0..self.people.len())
            .filter(|at| self.people[*at].is_erased.is_surely(&false))
            .collect();
        let Some(at) = Self::any(&mut self.chance, &there).map(|place| there[place]) else {
            return self.open_account().await;
        };
        match self.chance.below(100) {
            0..12 if there.len() < MOST => self.open_account().await,
            0..45 => self.give_standing(token, at).await,
            45..75 => self.close_or_open(token, at).await,
            75..78 => self.erase_somebody(token, at).await,
            78..90 if self.people[at].is_open() => {
                self.people[at].sign_in(&mut self.client).await;
            }
            _ => self.try_session(at).await,
        }
    }

    async fn give_standing(&mut self, token: &str, at: usize) {
        let word = self.word();
        let profile = ["MB", "TR", "CA", "SA"][usize::try_from(self.chance.below(4)).unwrap_or(0)];
        let wish = json!({ "role": word, "profile": profile, "isVerified": true });
        let heard = self
            .client
            .send(
                &Ask::new("PUT", format!("/team/{}", self.people[at].id))
                    .with(token)
                    .json(wish),
            )
            .await;
        self.me.heard_with(token, &heard);
        let outcome = self.tried(&word, &heard);
        if outcome != Outcome::Refused {
            let (actor, is_sure) = (self.me.id.clone(), outcome == Outcome::Acknowledged);
            self.deeds.push(Deed {
                actor,
                action: "TEAM_MEMBER_UPDATED",
                target: word.clone(),
                is_sure,
            });
        }
        let person = &mut self.people[at];
        person.label.write(outcome, word);
        person.profile.write(outcome, profile.to_owned());
        person.is_verified.write(outcome, true);
    }

    async fn close_or_open(&mut self, token: &str, at: usize) {
        let person = &mut self.people[at];
        let opens = !person.is_active.may_be(&true) || self.chance.below(3) == 0;
        let was = person.is_active.clone();
        let ask = Ask::new("PUT", format!("/users/user-status/{}", person.id))
            .with(token)
            .json(json!({ "isActive": opens }));
        let heard = self.client.send(&ask).await;
        let outcome = heard.outcome();
        person.is_active.write(outcome, opens);
        if !opens {
            person.end_sessions(outcome, "");
        }
        if outcome != Outcome::Refused && !was.is_surely(&opens) {
            let is_sure = outcome == Outcome::Acknowledged && !was.may_be(&opens);
            let (actor, target) = (self.me.id.clone(), person.id.clone());
            self.deeds.push(Deed {
                actor,
                action: "USER_STATUS_CHANGED",
                target,
                is_sure,
            });
        }
        self.me.heard_with(token, &heard);
    }

    async fn erase_somebody(&mut self, token: &str, at: usize) {
        let person = &mut self.people[at];
        let heard = self
            .client
            .send(
                &Ask::new("DELETE", format!("/users/{}", person.id))
                    .with(token)
                    .json(json!({})),
            )
            .await;
        let outcome = heard.outcome();
        person.is_erased.write(outcome, true);
        person.end_sessions(outcome, "");
        if outcome != Outcome::Refused {
            let (actor, target, is_sure) = (
                self.me.id.clone(),
                person.id.clone(),
                outcome == Outcome::Acknowledged,
            );
            self.deeds.push(Deed {
                actor,
                action: "USER_DELETED",
                target,
                is_sure,
            });
        }
        self.me.heard_with(token, &heard);
    }

    /// An ended session is refused at once, while everything goes wrong, too.
    async fn try_session(&mut self, at: usize) {
        let sessions = &self.people[at].sessions;
        let Some(session) =
            Self::any(&mut self.chance, sessions).map(|place| sessions[place].clone())
        else {
            return;
        };
        let heard = self
            .client
            .send(&Ask::new("GET", "/auth/check").with(&session.token))
            .await;
        if heard.is_done() && session.life == crate::account::Life::Ended {
            self.wrong(format!(
                "a session of {} that was ended is let in",
                self.people[at].id
            ));
        }
        self.people[at].heard_with(&session.token, &heard);
    }

    async fn open_account(&mut self) {
        // No password holds its owner's name.
        let (word, secret, number) = (self.word(), self.word(), self.people.len());
        let (email, password) = (
            format!("led{}.{number}@example.org", self.number),
            format!("mot de passe {secret}"),
        );
        let body = json!({ "name": "Amel", "lastName": word, "email": email, "password": password, "committeeID": self.committee });
        let heard = self
            .client
            .send(&Ask::new("POST", "/users/register").json(body))
            .await;
        let outcome = self.tried(&word, &heard);
        let mut account = Account::new(heard.text("/user/userID"), &email, &password, &word, "MB");
        // Whoever was not told finds out by signing in.
        if outcome == Outcome::Acknowledged
            || (outcome == Outcome::Unknown && account.sign_in(&mut self.client).await)
        {
            self.people.push(account);
        } else {
            // Nobody has a hand in it: its address is not used again.
            account.is_erased = Known::new(true);
            account.is_erased.write(Outcome::Unknown, false);
            account.id = String::new();
            self.people.push(account);
        }
    }

    pub(crate) async fn make_subdomain(&mut self, token: &str) {
        let word = self.word();
        let body = json!({ "domain": word, "rootdomain": "formation.example.org" });
        let heard = self
            .client
            .send(&Ask::new("POST", "/cpanel/subdomain").with(token).json(body))
            .await;
        self.me.heard_with(token, &heard);
        self.subdomains.push((word, heard.outcome()));
    }
}
