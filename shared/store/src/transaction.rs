//! What belongs together: written at once or not at all.

use crate::{
    Store, StoreError,
    keys::Key,
    write::{Action, Write},
};

/// Writes that are to be done together. Each entity's file says which parts it has to offer; nothing
/// is written before [`commit`](Self::commit).
#[derive(Debug, Clone)]
#[must_use = "nothing is written before it is committed"]
pub struct Transaction {
    pub(crate) store: Store,
    parts: Vec<(Part, Action, Write)>,
}

/// What a part of a transaction writes or checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The account: somebody has changed it since it was read.
    User,
    /// The password: somebody has changed it.
    Credentials,
    /// The address: somebody has it.
    Email,
    /// The set of active super admins: this is the last one.
    Admins,
    /// The committee: it is closed or not there.
    Committee,
    /// A code: it was used, replaced, or tried too often.
    Code,
    /// The one-time password secret: its code or recovery code was used.
    Otp,
    /// The secret that was being tried out: it is no longer.
    Enrolment,
    /// The step of a sign-in: it was done.
    Step,
    /// A session.
    Session,
    /// A sign-in: another has its number.
    Login,
    /// A course: it has changed, or has no room for more questions.
    Course,
    /// A file: it is not as it was.
    File,
    /// What somebody's files take: there is no room for more.
    Usage,
    /// A text message: it is on its way at this moment.
    Sms,
    /// A chunk of a batch: it has become messages.
    Chunk,
    /// What is sent in a day: there is no room for more.
    Quota,
    /// A number that is not written to: it is noted.
    OptOut,
    /// An answer: it was given before.
    Idempotency,
    /// A message, an audit entry: their identifiers are new, so they are never refused.
    New,
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a part may have been refused"]
pub enum CommitOutcome {
    /// All of it was done.
    Committed,
    /// Nothing was done: the condition of this part did not hold.
    ConditionFailed(Part),
}

impl Store {
    /// An empty transaction.
    pub fn transaction(&self) -> Transaction {
        Transaction {
            store: self.clone(),
            parts: Vec::new(),
        }
    }
}

impl Transaction {
    /// Writes everything, or nothing.
    ///
    /// # Errors
    /// After [`StoreError::Throttled`] and [`StoreError::TransactionConflict`] nothing was done; after [`StoreError::Unavailable`] that is
    /// not known.
    pub async fn commit(self) -> Result<CommitOutcome, StoreError> {
        if self.parts.is_empty() {
            return Ok(CommitOutcome::Committed);
        }
        let mut kinds = Vec::new();
        let mut items = Vec::new();
        for (part, action, write) in self.parts {
            kinds.push(part);
            items.push(write.into_item_of_transaction(action, &self.store)?);
        }
        let refused = self.store.transact(&items).await?;
        Ok(refused
            .and_then(|number| kinds.get(number).copied())
            .map_or(CommitOutcome::Committed, CommitOutcome::ConditionFailed))
    }

    /// Adds the parts of `other` after those that are there.
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

    /// The removal of what stands at `key`, if anything does.
    pub(crate) fn remove(&mut self, part: Part, key: &Key) {
        self.delete(part, Write::at(key));
    }

    /// The put of an item where none is.
    pub(crate) fn put_new(&mut self, part: Part, write: Write) {
        self.put(part, write.when("attribute_not_exists(pk)"));
    }
}
