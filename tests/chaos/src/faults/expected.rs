//! The state that the service must have, derived from its responses.

/// The outcome of a request, as far as the client knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A 2xx or 3xx response.
    Acknowledged,
    /// A 4xx response, or the request was not sent.
    Refused,
    /// A 5xx response, or none.
    Unknown,
}

/// The values that a field may have: the last acknowledged one, and later ones of unknown outcome.
#[derive(Debug, Clone)]
pub(crate) struct Expected<T>(Vec<T>);

impl<T: Clone + PartialEq> Expected<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(vec![value])
    }

    /// Records a write of `value` with this `outcome`.
    pub(crate) fn write(&mut self, outcome: Outcome, value: T) {
        match outcome {
            Outcome::Acknowledged => self.0 = vec![value],
            Outcome::Refused => {}
            Outcome::Unknown => self.0.push(value),
        }
    }

    pub(crate) fn allows(&self, value: &T) -> bool {
        self.0.contains(value)
    }

    /// The value, if only one is possible.
    pub(crate) fn exact(&self) -> Option<&T> {
        let first = self.0.first();
        first.filter(|first| self.0.iter().all(|other| other == *first))
    }

    pub(crate) fn is_exactly(&self, value: &T) -> bool {
        self.exact() == Some(value)
    }

    /// All possible values, the last acknowledged one first.
    pub(crate) fn all(&self) -> &[T] {
        &self.0
    }
}

pub(crate) struct ExpectedCourse {
    pub(crate) id: String,
    /// The word in its title; empty while it may not exist.
    pub(crate) title: Expected<String>,
    pub(crate) state: Expected<&'static str>,
    pub(crate) questions: Vec<ExpectedQuestion>,
    /// The version in the last response, if nothing has changed since.
    pub(crate) version: Option<u64>,
}

pub(crate) struct ExpectedQuestion {
    pub(crate) word: String,
    pub(crate) id: String,
    pub(crate) exists: Expected<bool>,
}

pub(crate) struct ExpectedFile {
    pub(crate) id: String,
    pub(crate) text: String,
    /// Whether it is in the bucket.
    pub(crate) was_sent: Expected<bool>,
    /// Whether its completion was acknowledged.
    pub(crate) is_ready: bool,
    pub(crate) is_deleted: Expected<bool>,
}

/// A single message.
pub(crate) struct ExpectedSms {
    pub(crate) word: String,
    pub(crate) to: String,
    pub(crate) sms_id: String,
    pub(crate) outcome: Outcome,
}

/// A batch of messages.
pub(crate) struct ExpectedBatch {
    pub(crate) word: String,
    pub(crate) batch_id: String,
    /// Number and identifier of each accepted message.
    pub(crate) accepted: Vec<(String, String)>,
    pub(crate) recipients: usize,
    pub(crate) outcome: Outcome,
}

/// Two registrations of one address at the same moment.
pub(crate) struct Race {
    pub(crate) email: String,
    /// The accounts whose registration was acknowledged.
    pub(crate) winners: Vec<String>,
}

/// An action that has one audit entry if it was done.
pub(crate) struct AuditedAction {
    pub(crate) action: &'static str,
    /// An identifier, or a word in what changed.
    pub(crate) target: String,
    /// Whether it was certainly done.
    pub(crate) is_certain: bool,
}
