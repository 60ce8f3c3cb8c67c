//! Virtual users: random actions until the run ends, and the state that the service must have after them. Only one user
//! changes their data, so every difference is an error of the service.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use cloud::{random::SeededRandom, recorder::Recorder};
use domain::{Grant, Profile};
use runtime::Clock;
use serde_json::Value;
use tests::{NewPerson, PASSWORD, World};
use tokio::time::sleep;

use crate::{
    accounts::Account,
    attendance::{self, Held, Sent},
    client::{Call, Client, Expected, Outcome, Response, Service},
    content::{Batch, Course, StoredFile},
    seats::{self, Seat},
};

/// Profiles, permissions, and the number of users that have them. Those without are newcomers.
const USERS: [(Profile, &[Grant], u64); 4] = [
    (Profile::SuperAdmin, &[], 2),
    (Profile::CommitteeAdmin, &[Grant::SmsBulk], 4),
    (Profile::Trainer, &[Grant::SmsBulk, Grant::SmsSend], 12),
    (Profile::Member, &[], 6),
];

pub(crate) struct VirtualUser {
    pub(crate) number: u64,
    pub(crate) profile: Profile,
    pub(crate) committee: String,
    /// Accounts that only this user changes, the first of which is their own.
    pub(crate) people: Vec<Account>,
    /// Addresses that were registered twice at once, and how often that was acknowledged.
    pub(crate) races: Vec<(String, usize)>,
    pub(crate) courses: Vec<Course>,
    pub(crate) files: Vec<StoredFile>,
    pub(crate) seats: Vec<Seat>,
    /// The course whose attendance they mark, or whose certificates they issue; `None` of members.
    pub(crate) held: Option<Held>,
    pub(crate) marks: Vec<Sent>,
    /// People with the codes of certificates that responses named.
    pub(crate) certificates: Vec<(String, String)>,
    /// Codes whose revocation was acknowledged.
    pub(crate) revoked: Vec<String>,
    /// Text messages; a single one is a batch of one.
    pub(crate) batches: Vec<Batch>,
    /// Numbers, and whether they are on the opt-out list.
    pub(crate) opt_outs: Vec<(String, Expected<bool>)>,
    /// When one of them was changed last.
    pub(crate) opt_outs_changed: Instant,
    /// Actions and their targets (an identifier, or a word in what changed) that have one audit entry if they were done;
    /// true if they certainly were.
    pub(crate) audited: Vec<(&'static str, String, bool)>,
    pub(crate) subdomains: Vec<(String, Outcome)>,
    /// Words of rejected requests, which must not be stored.
    pub(crate) refused: Vec<String>,
    /// The number of responses that were requested again with the same key.
    pub(crate) replays: u64,
    /// Responses that contradict earlier ones.
    pub(crate) violations: Vec<String>,
    pub(crate) client: Client,
    /// The token of the session that they use now.
    pub(crate) token: String,
    pub(crate) random: SeededRandom,
    pub(crate) recorder: Recorder,
    pub(crate) clock: Clock,
    words: u64,
}

/// All users, of three committees.
pub(crate) async fn all(world: &World, service: &Arc<Service>, seed: u64) -> Vec<VirtualUser> {
    let mut committees = vec![world.committee()];
    for name in ["Comité de Sfax", "Comité de Bizerte"] {
        committees.push(world.another_committee(name, true).await);
    }
    let (mut users, seats) = (Vec::new(), seats::courses(world, &committees).await);
    let kinds = USERS
        .iter()
        .flat_map(|(profile, grants, count)| (0..*count).map(move |_| (*profile, *grants)));
    for (number, (profile, grants)) in (0..).zip(kinds) {
        let committee = committees[users.len() % committees.len()];
        let account = world.account(&NewPerson::with(profile).of(committee).granted(grants)).await;
        let fields = [account.email.as_str(), PASSWORD, account.last_name.as_str(), profile.code()];
        let mut me = Account::new(account.user_id.to_string(), fields);
        me.is_verified = Expected::new(true);
        let mut people = vec![me];
        if profile == Profile::SuperAdmin {
            people.extend(seats::people(world, committee, &seats).await);
        }
        // Each user has their own random numbers, so that the order of the users does not matter.
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number * 2);
        let address = [127, 0, 1, users.len() as u8 + 1].into();
        let random = SeededRandom::new(seed);
        let client = Client { service: Arc::clone(service), address, random, cuts: true };
        let opt_outs =
            (0..10).map(|last| (format!("+21620{number:02}000{last}"), Expected::new(false)));
        users.push(VirtualUser {
            number,
            profile,
            committee: committee.to_string(),
            people,
            races: Vec::new(),
            courses: Vec::new(),
            files: Vec::new(),
            seats: seats.clone(),
            held: None,
            marks: Vec::new(),
            certificates: Vec::new(),
            revoked: Vec::new(),
            batches: Vec::new(),
            opt_outs: opt_outs.collect(),
            opt_outs_changed: Instant::now(),
            audited: Vec::new(),
            subdomains: Vec::new(),
            refused: Vec::new(),
            replays: 0,
            violations: Vec::new(),
            client,
            token: String::new(),
            random: SeededRandom::new(seed.wrapping_add(1)),
            recorder: world.cloud().recorder().clone(),
            clock: world.clock().clone(),
            words: 0,
        });
    }
    let first = committees[0].to_string();
    let mut phones: Vec<&mut VirtualUser> = users
        .iter_mut()
        .filter(|user| user.committee == first && user.profile == Profile::Trainer)
        .collect();
    let markers = phones.iter().map(|user| user.people[0].id.as_str()).collect();
    let held = attendance::held(world, markers).await;
    phones.iter_mut().for_each(|user| user.held = Some(held.clone()));
    for admin in users.iter_mut().filter(|user| user.profile == Profile::SuperAdmin) {
        admin.held = Some(held.clone());
    }
    users
}

impl VirtualUser {
    /// Acts until `is_over`.
    pub(crate) async fn run(mut self, is_over: Arc<AtomicBool>) -> Self {
        while !is_over.load(Ordering::Relaxed) {
            // Signs in if there is no session, and one time in fifty.
            if self.people[0].usable_tokens().is_empty() || self.random.below(50) == 0 {
                self.people[0].sign_in(&mut self.client).await;
            }
            let tokens = self.people[0].usable_tokens();
            let Some(token) = self.pick(&tokens) else {
                sleep(Duration::from_millis(200)).await;
                continue;
            };
            self.token = token.clone();
            match (self.profile, self.random.below(100)) {
                // Rare otherwise, so that a short run might check none.
                (Profile::SuperAdmin, _) if self.subdomains.is_empty() => {
                    self.make_subdomain().await;
                }
                (_, 0..4) => self.rename(0, &token).await,
                (_, 4..6) => self.change_password(0, &token).await,
                (_, 6..8) if tokens.len() > 3 => self.sign_out(0, &token).await,
                (Profile::Trainer, 10..20) if self.held.is_some() => self.mark_attendance().await,
                (_, 6..14) | (Profile::SuperAdmin, 28..35) => self.use_seats().await,
                (Profile::SuperAdmin, 14..22) => self.change_start().await,
                (Profile::SuperAdmin, 22..28) => self.issue_certificates().await,
                (_, 14..20) => self.read_something().await,
                (_, 20..32) => self.keep_files().await,
                (Profile::Member, _) => self.register_and_leave().await,
                (_, 32..35) => self.keep_files().await,
                (Profile::SuperAdmin, 35..41) => self.make_subdomain().await,
                (Profile::SuperAdmin, 41..90) => self.administer().await,
                (Profile::CommitteeAdmin, 35..41) => self.change_opt_out().await,
                (_, 35..50) => self.send_one().await,
                (_, 50..53) => self.send_many().await,
                (_, _) => self.work_on_courses().await,
            }
        }
        self
    }

    async fn read_something(&mut self) {
        let paths = ["auth/current-user", "auth/sessions", "users/activity", "courses/committee"];
        let path = self.pick(&paths).unwrap_or_default();
        self.call(&format!("GET /{path}"), Value::Null).await;
    }

    /// Sends `line` with the user's own token.
    pub(crate) async fn call(&mut self, line: &str, body: Value) -> Response {
        self.call_as(&self.token.clone(), line, body).await
    }

    /// Sends `line` with `token`; an empty one is none.
    pub(crate) async fn call_as(&mut self, token: &str, line: &str, body: Value) -> Response {
        let response = self.client.send(&Call::new(token, line, body)).await;
        let sessions = self.people.iter_mut().flat_map(|person| &mut person.sessions);
        for session in sessions.filter(|session| session.token == token) {
            let is_rejected = response.status == 401;
            session.rejections = if is_rejected { session.rejections + 1 } else { 0 };
        }
        response
    }

    /// A new unique word. It has only letters, because it is used in names, titles and texts. No French ending has a k, so
    /// that the word is its own stem in the search.
    pub(crate) fn word(&mut self) -> String {
        let number = self.number * 1_000_000 + self.words;
        self.words += 1;
        let letter = |place: u32| char::from(b'a' + (number / 26_u64.pow(place) % 26) as u8);
        format!("zq{}k", (0..7).rev().map(letter).collect::<String>())
    }

    /// The outcome of `response`; records `word` if the request was rejected.
    pub(crate) fn record_word(&mut self, word: &str, response: &Response) -> Outcome {
        if response.outcome == Outcome::Refused {
            self.refused.push(word.to_owned());
        }
        response.outcome
    }

    /// Records the audit entry that an action with this `outcome` must have; `changes` is whether it certainly changes
    /// something.
    pub(crate) fn audit(&mut self, outcome: Outcome, changes: bool, what: (&'static str, String)) {
        if outcome != Outcome::Refused {
            self.audited.push((what.0, what.1, changes && outcome == Outcome::Acknowledged));
        }
    }

    /// Records a response that contradicts earlier ones.
    pub(crate) fn violation(&mut self, what: String) {
        self.violations.push(format!("person {}: {what}", self.number));
    }

    /// A random element of `list`; `None` if it is empty.
    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> Option<T> {
        let at = self.random.below(list.len().max(1) as u64);
        list.get(at as usize).cloned()
    }
}
