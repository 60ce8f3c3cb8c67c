//! Atomic writes (TransactWriteItems).

use crate::{
    Store, StoreError,
    keys::Key,
    write::{Action, Write},
};

/// A list of writes that [`commit`](Self::commit) executes atomically. The methods that add writes are in the
/// files of the entities.
#[derive(Debug, Clone)]
#[must_use = "nothing is written until it is committed"]
pub struct Transaction {
    pub(crate) store: Store,
    parts: Vec<(Part, Action, Write)>,
}

/// The item that a part of a transaction writes or checks, with the reason why its condition fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// An account: it has changed since it was read.
    User,
    /// The credentials: the password has changed.
    Credentials,
    /// An e-mail address: it is taken.
    Email,
    /// The stop of mails to an address: it exists already, or is newer than its cause.
    MailStop,
    /// The set of active super admins: the last one would be removed.
    Admins,
    /// A committee: it has changed since it was read.
    Committee,
    /// A one-time code: it was used or replaced, has expired, or has had too many attempts.
    Code,
    /// A one-time password secret: the code or recovery code was already used.
    Otp,
    /// An enrolment: another one is pending, or this one is no longer pending.
    Enrolment,
    /// A step of a sign-in: it was already completed.
    Step,
    /// A passkey: another account has its credential, it was removed, or its signature counter has risen since.
    Passkey,
    /// The challenge of a passkey: it was used or replaced.
    Challenge,
    /// A session: it has ended.
    Session,
    /// A sign-in: its number is taken.
    Login,
    /// The devices of a user: the condition never fails.
    Devices,
    /// A course: it has changed since it was read.
    Course,
    /// A registration: it has changed since it was read.
    Registration,
    /// The sessions of a course: one that is removed has marks, or they have changed since they were read.
    Sessions,
    /// The attendance of a person: it has changed since it was read.
    Attendance,
    /// A certificate: it has changed since it was read.
    Certificate,
    /// The seats of a course: none is free, somebody waits, or the settings have changed since they were read.
    Seats,
    /// The active registrations of a person: there are too many.
    Registered,
    /// A file: its status has changed since it was read.
    File,
    /// The storage usage of a user: the quota would be exceeded.
    Usage,
    /// A text message or batch: it does not exist any more.
    Sms,
    /// A chunk of a batch: it was already expanded into messages.
    Chunk,
    /// The daily quota of a user's files: it would be exceeded.
    Quota,
    /// An opt-out: it already exists.
    OptOut,
    /// A security counter: its window has ended.
    Counter,
    /// An idempotent response: another request was answered under the key.
    Idempotency,
    /// Any other item: its write has no condition, or one that fails for no request, such as that a new identifier is free.
    Other,
}

impl Part {
    /// The error of a condition that fails for no request, such as that a new identifier is not taken.
    pub fn unexpected(self) -> StoreError {
        StoreError::Unexpected(format!("the condition of {self:?} has failed"))
    }
}

/// The outcome of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a condition may have failed"]
pub enum CommitOutcome {
    /// Everything was written.
    Committed,
    /// Nothing was written: the condition of this part failed.
    ConditionFailed(Part),
}

impl CommitOutcome {
    /// The outcome of a transaction whose conditions fail after a concurrent change alone.
    ///
    /// # Errors
    /// [`StoreError::TransactionConflict`] when one has failed.
    pub fn or_conflict(self) -> Result<(), StoreError> {
        match self {
            Self::Committed => Ok(()),
            Self::ConditionFailed(_) => Err(StoreError::TransactionConflict),
        }
    }

    /// The outcome of a transaction whose conditions hold for every request.
    ///
    /// # Errors
    /// [`Part::unexpected`] when one has failed.
    pub fn expect_committed(self) -> Result<(), StoreError> {
        match self {
            Self::Committed => Ok(()),
            Self::ConditionFailed(part) => Err(part.unexpected()),
        }
    }
}

impl Store {
    /// An empty transaction.
    pub fn transaction(&self) -> Transaction {
        Transaction { store: self.clone(), parts: Vec::new() }
    }
}

impl Transaction {
    /// Writes everything or nothing. Retries conflicts until the deadline of the request, and throttling, internal errors and
    /// missing responses for up to 1.5 seconds.
    ///
    /// # Errors
    /// Nothing was written after [`StoreError::Throttled`] and [`StoreError::TransactionConflict`]; after
    /// [`StoreError::Unavailable`] the outcome is unknown.
    pub async fn commit(self) -> Result<CommitOutcome, StoreError> {
        if self.parts.is_empty() {
            return Ok(CommitOutcome::Committed);
        }
        let mut kinds = Vec::new();
        let mut items = Vec::new();
        for (part, action, write) in self.parts {
            kinds.push(part);
            items.push(write.into_transact_write_item(action, &self.store)?);
        }
        let failed_part = self.store.transact(&items).await?;
        Ok(failed_part
            .and_then(|index| kinds.get(index).copied())
            .map_or(CommitOutcome::Committed, CommitOutcome::ConditionFailed))
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    pub(crate) fn put(&mut self, part: Part, write: Write) {
        self.parts.push((part, Action::Put, write));
    }

    pub(crate) fn update(&mut self, part: Part, write: Write) {
        self.parts.push((part, Action::Update, write));
    }

    pub(crate) fn delete(&mut self, part: Part, write: Write) {
        self.parts.push((part, Action::Delete, write));
    }

    pub(crate) fn check(&mut self, part: Part, write: Write) {
        self.parts.push((part, Action::Check, write));
    }

    /// Deletes the item at `key`, if there is one.
    pub(crate) fn remove(&mut self, part: Part, key: &Key) {
        self.delete(part, Write::at(key));
    }

    /// Puts an item; the condition fails when the key is taken.
    pub(crate) fn put_new(&mut self, part: Part, write: Write) {
        self.put(part, write.when("attribute_not_exists(pk)"));
    }
}
