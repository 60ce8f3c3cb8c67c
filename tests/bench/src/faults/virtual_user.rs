//! A virtual user: what they may do, what they have done, and what the service must hold for it.
//! Only this user writes what is theirs, so every difference is an error of the service.

use local::{random::SeededRandom, recorder::Recorder};

use crate::{
    account::Account,
    client::{Call, Client, Response},
    expected::{
        AuditedAction, Expected, ExpectedBatch, ExpectedCourse, ExpectedFile, ExpectedSms, Outcome,
        Race,
    },
};

/// What a user does depends on their role.
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
    pub(crate) audited: Vec<AuditedAction>,
    pub(crate) subdomains: Vec<(String, Outcome)>,
    /// Words of requests that were refused: they must be stored nowhere.
    pub(crate) refused: Vec<String>,
    /// Responses that were requested again under the same key.
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

    /// Sends `call` with `token`, one of this user's own.
    pub(crate) async fn call(&mut self, token: &str, call: Call) -> Response {
        let response = self.client.send(&call.with(token)).await;
        self.me.record_response(token, &response);
        response
    }

    /// A word that is stored nowhere yet: letters only, since it becomes a name, a title and a text.
    pub(crate) fn word(&mut self) -> String {
        let number = self.number * 1_000_000 + self.words;
        self.words += 1;
        let letter = |place: u32| {
            char::from(b'a' + u8::try_from(number / 26_u64.pow(place) % 26).unwrap_or(0))
        };
        format!("zq{}", (0..8).rev().map(letter).collect::<String>())
    }

    /// The outcome of `response`; notes `word` if it was refused.
    pub(crate) fn record_word(&mut self, word: &str, response: &Response) -> Outcome {
        let outcome = response.outcome();
        if outcome == Outcome::Refused {
            self.refused.push(word.to_owned());
        }
        outcome
    }

    /// Notes what the audit must hold of an action with this `outcome`; `changes` says whether it
    /// changed something.
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

    /// Notes a response that contradicts earlier ones.
    pub(crate) fn violation(&mut self, what: &str) {
        if self.violations.len() < 20 {
            self.violations
                .push(format!("person {}: {what}", self.number));
        }
    }

    /// One of `list`.
    pub(crate) fn pick<T: Clone>(random: &mut SeededRandom, list: &[T]) -> Option<T> {
        let at = random.below(list.len().max(1) as u64);
        list.get(usize::try_from(at).ok()?).cloned()
    }
}
