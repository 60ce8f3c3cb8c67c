//! Somebody who acts: what he may do, what he has done, and what he knows of it. Nobody else writes what is his.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use local::{chance::Chance, recorder::Recorder};
use serde_json::json;
use tokio::time::{Duration, sleep};

use crate::{
    account::Account,
    client::{Ask, Client, Heard},
    courses::KnownCourse,
    directing::Deed,
    files::KnownFile,
    joining::Race,
    known::{Known, Outcome},
    messages::{KnownBatch, KnownText},
};

/// What somebody is, which decides what he does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    SuperAdmin,
    CommitteeAdmin,
    Trainer,
    Newcomer,
}

pub(crate) struct Actor {
    pub(crate) number: u64,
    pub(crate) role: Role,
    pub(crate) committee: String,
    pub(crate) me: Account,
    /// Accounts that he alone has a hand in: those he looks after, or has had opened.
    pub(crate) people: Vec<Account>,
    pub(crate) races: Vec<Race>,
    pub(crate) courses: Vec<KnownCourse>,
    pub(crate) files: Vec<KnownFile>,
    pub(crate) texts: Vec<KnownText>,
    pub(crate) batches: Vec<KnownBatch>,
    /// Numbers that are perhaps not written to.
    pub(crate) opt_outs: Vec<(String, Known<bool>)>,
    pub(crate) deeds: Vec<Deed>,
    pub(crate) subdomains: Vec<(String, Outcome)>,
    /// Words that he tried to write and was told that they were not.
    pub(crate) refused: Vec<String>,
    /// Answers that were asked for again under their key.
    pub(crate) replays: u64,
    /// What he was told that cannot be.
    pub(crate) wrongs: Vec<String>,
    pub(crate) client: Client,
    pub(crate) chance: Chance,
    pub(crate) recorder: Recorder,
    counted: u64,
}

impl Actor {
    pub(crate) fn new(
        number: u64,
        role: Role,
        committee: String,
        me: Account,
        client: Client,
        chance: Chance,
        recorder: Recorder,
    ) -> Self {
        Self {
            number,
            role,
            committee,
            me,
            people: Vec::new(),
            races: Vec::new(),
            courses: Vec::new(),
            files: Vec::new(),
            texts: Vec::new(),
            batches: Vec::new(),
            opt_outs: (0..10)
                .map(|last| (format!("+21620{number:02}000{last}"), Known::new(false)))
                .collect(),
            deeds: Vec::new(),
            subdomains: Vec::new(),
            refused: Vec::new(),
            replays: 0,
            wrongs: Vec::new(),
            client,
            chance,
            recorder,
            counted: 0,
        }
    }

    /// Acts until `is_over`.
    pub(crate) async fn act(mut self, is_over: Arc<AtomicBool>) -> Self {
        while !is_over.load(Ordering::Relaxed) {
            let Some(token) = self.token().await else {
                sleep(Duration::from_millis(200)).await;
                continue;
            };
            match (self.role, self.chance.below(100)) {
                (_, 0..4) => self.change_own_name(&token).await,
                (_, 4..6) => self.change_own_password(&token).await,
                (_, 6..8) => self.end_a_session().await,
                (_, 8..20) => self.look_around(&token).await,
                (Role::Newcomer, 20..32) => self.keep_files(&token).await,
                (Role::Newcomer, _) => self.join_and_leave().await,
                (_, 20..35) => self.keep_files(&token).await,
                (Role::SuperAdmin, 35..41) => self.make_subdomain(&token).await,
                (Role::SuperAdmin, 41..90) => self.direct(&token).await,
                (Role::CommitteeAdmin, 35..41) => self.change_opt_out(&token).await,
                (_, 35..41) => self.send_one(&token).await,
                (_, 41..50) => self.send_one(&token).await,
                (_, 50..53) => self.send_many(&token).await,
                (_, _) => self.work_on_courses(&token).await,
            }
        }
        self
    }

    /// A word that stands nowhere yet: letters alone, for it is a name, a title and a text.
    pub(crate) fn word(&mut self) -> String {
        let number = self.number * 1_000_000 + self.counted;
        self.counted += 1;
        let letter = |place: u32| {
            char::from(b'a' + u8::try_from(number / 26_u64.pow(place) % 26).unwrap_or(0))
        };
        format!("zq{}", (0..8).rev().map(letter).collect::<String>())
    }

    /// Notes that `word` was tried, with this outcome, and gives that.
    pub(crate) fn tried(&mut self, word: &str, heard: &Heard) -> Outcome {
        let outcome = heard.outcome();
        if outcome == Outcome::Refused {
            self.refused.push(word.to_owned());
        }
        outcome
    }

    /// Something that was told and cannot be.
    pub(crate) fn wrong(&mut self, what: String) {
        if self.wrongs.len() < 20 {
            self.wrongs.push(format!("person {}: {what}", self.number));
        }
    }

    /// One of `list`, by its place.
    pub(crate) fn any<T>(chance: &mut Chance, list: &[T]) -> Option<usize> {
        if list.is_empty() {
            None
        } else {
            usize::try_from(chance.below(list.len() as u64)).ok()
        }
    }

    /// The token of a session of his own; a new one where there is none, or now and then.
    async fn token(&mut self) -> Option<String> {
        if self
            .me
            .sessions
            .iter()
            .filter(|session| session.may_be_used())
            .count()
            == 0
            || self.chance.below(50) == 0
        {
            self.me.sign_in(&mut self.client).await;
        }
        self.me.any_token(&mut self.chance)
    }

    /// Reads: they change nothing, and are answered well or not at all.
    async fn look_around(&mut self, token: &str) {
        let id = &self.me.id;
        let paths = [
            "/auth/check".to_owned(),
            "/auth/current-user".to_owned(),
            "/auth/sessions".to_owned(),
            "/users/activity".to_owned(),
            "/courses/search-all?limit=50".to_owned(),
            "/courses/committee".to_owned(),
            "/files/my-files".to_owned(),
            format!("/users/{id}"),
        ];
        if let Some(path) = Self::any(&mut self.chance, &paths).and_then(|at| paths.get(at)) {
            let heard = self
                .client
                .send(&Ask::new("GET", path.clone()).with(token))
                .await;
            self.me.heard_with(token, &heard);
        }
    }

    async fn change_own_name(&mut self, token: &str) {
        let word = self.word();
        let ask = Ask::new("PUT", format!("/users/{}", self.me.id))
            .with(token)
            .json(json!({ "lastName": word }));
        let heard = self.client.send(&ask).await;
        let outcome = self.tried(&word, &heard);
        self.me.last_name.write(outcome, word);
        self.me.heard_with(token, &heard);
    }

    async fn change_own_password(&mut self, token: &str) {
        let word = self.word();
        self.me
            .change_password(&mut self.client, token, &format!("mot de passe {word}"))
            .await;
    }

    async fn end_a_session(&mut self) {
        if self
            .me
            .sessions
            .iter()
            .filter(|session| session.may_be_used())
            .count()
            > 3
        {
            self.me.sign_out(&mut self.client, &mut self.chance).await;
        }
    }
}
