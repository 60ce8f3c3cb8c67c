//! A virtual user: their role, and the state that the service must have after their actions. Only this user changes
//! their own data, so every difference is an error of the service.

use std::time::Instant;

use cloud::{random::SeededRandom, recorder::Recorder};

use crate::{
    account::Account,
    client::{Call, Client, Response},
    expected::{
        AuditedAction, Expected, ExpectedBatch, ExpectedCourse, ExpectedFile, ExpectedSms, Outcome,
        Race,
    },
};

/// The role of a user, which determines their actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    SuperAdmin,
    CommitteeAdmin,
    Trainer,
    Newcomer,
}

pub(crate) struct VirtualUser {
    pub(crate) number: u64,
    pub(crate) role: Role,
    pub(crate) committee: String,
    pub(crate) me: Account,
    /// Accounts that only this user changes.
    pub(crate) people: Vec<Account>,
    pub(crate) races: Vec<Race>,
    pub(crate) courses: Vec<ExpectedCourse>,
    pub(crate) files: Vec<ExpectedFile>,
    pub(crate) texts: Vec<ExpectedSms>,
    pub(crate) batches: Vec<ExpectedBatch>,
    /// Numbers, and whether they are on the opt-out list.
    pub(crate) opt_outs: Vec<(String, Expected<bool>)>,
    /// When one of them was changed last.
    pub(crate) opt_outs_changed: Instant,
    pub(crate) audited: Vec<AuditedAction>,
    pub(crate) subdomains: Vec<(String, Outcome)>,
    /// Words of rejected requests, which must not be stored.
    pub(crate) refused: Vec<String>,
    /// The number of responses that were requested again with the same key.
    pub(crate) replays: u64,
    /// Responses that contradict earlier ones.
    pub(crate) violations: Vec<String>,
    pub(crate) client: Client,
    pub(crate) random: SeededRandom,
    pub(crate) recorder: Recorder,
    words: u64,
}

impl VirtualUser {
    pub(crate) fn new(
        (number, role): (u64, Role),
        committee: String,
        me: Account,
        client: Client,
        random: SeededRandom,
        recorder: Recorder,
    ) -> Self {
        let number_of = |last| format!("+21620{number:02}000{last}");
        let opt_outs = (0..10).map(|last| (number_of(last), Expected::new(false)));
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
            opt_outs: opt_outs.collect(),
            opt_outs_changed: Instant::now(),
            audited: Vec::new(),
            subdomains: Vec::new(),
            refused: Vec::new(),
            replays: 0,
            violations: Vec::new(),
            client,
            random,
            recorder,
            words: 0,
        }
    }

    /// Sends `call` with `token`, which belongs to this user.
    pub(crate) async fn call(&mut self, token: &str, call: Call) -> Response {
        let response = self.client.send(&call.with(token)).await;
        self.me.record_response(token, &response);
        response
    }

    /// A new unique word. It has only letters, because it is used in names, titles and texts. No French ending has a k, so
    /// that the word is its own stem in the search.
    pub(crate) fn word(&mut self) -> String {
        let number = self.number * 1_000_000 + self.words;
        self.words += 1;
        let letter = |place: u32| {
            char::from(b'a' + u8::try_from(number / 26_u64.pow(place) % 26).unwrap_or(0))
        };
        format!("zq{}k", (0..7).rev().map(letter).collect::<String>())
    }

    /// The outcome of `response`; records `word` if the request was rejected.
    pub(crate) fn record_word(&mut self, word: &str, response: &Response) -> Outcome {
        let outcome = response.outcome();
        if outcome == Outcome::Refused {
            self.refused.push(word.to_owned());
        }
        outcome
    }

    /// Records the audit entry that an action with this `outcome` must have; `changes` is whether it certainly changes
    /// something.
    pub(crate) fn record_audited(
        &mut self,
        outcome: Outcome,
        changes: bool,
        action: &'static str,
        target: String,
    ) {
        if outcome != Outcome::Refused {
            self.audited.push(AuditedAction {
                action,
                target,
                is_certain: changes && outcome == Outcome::Acknowledged,
            });
        }
    }

    /// Records a response that contradicts earlier ones.
    pub(crate) fn violation(&mut self, what: &str) {
        if self.violations.len() < 20 {
            self.violations.push(format!("person {}: {what}", self.number));
        }
    }

    /// A random element of `list`; `None` if it is empty.
    pub(crate) fn pick<T: Clone>(random: &mut SeededRandom, list: &[T]) -> Option<T> {
        let at = random.below(list.len().max(1) as u64);
        list.get(usize::try_from(at).ok()?).cloned()
    }
}
