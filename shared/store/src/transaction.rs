//! What belongs together: written at once or not at all.

use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Put, TransactWriteItem, Update};

use crate::{Fault, Store, keys::Key, table::Item};

/// Writes that are to be done together. Each entity's file says which parts it has to offer; nothing
/// is written before [`commit`](Self::commit).
#[derive(Debug, Clone)]
#[must_use = "nothing is written before it is committed"]
pub struct Transaction {
    pub(crate) store: Store,
    parts: Vec<(Part, TransactWriteItem)>,
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
pub enum Outcome {
    /// All of it was done.
    Done,
    /// Nothing was done: the condition of this part did not hold.
    Refused(Part),
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
    /// When the store is out of reach: then it is not known whether it was done, unless it was too
    /// busy, when it was not.
    pub async fn commit(self) -> Result<Outcome, Fault> {
        let (kinds, parts): (Vec<Part>, Vec<TransactWriteItem>) = self.parts.into_iter().unzip();
        if parts.is_empty() {
            return Ok(Outcome::Done);
        }
        let refused = self.store.transact(&parts).await?;
        Ok(refused
            .and_then(|number| kinds.get(number).copied())
            .map_or(Outcome::Done, Outcome::Refused))
    }

    pub(crate) fn put(&mut self, part: Part, put: Put) {
        self.parts
            .push((part, TransactWriteItem::builder().put(put).build()));
    }

    pub(crate) fn update(&mut self, part: Part, update: Update) {
        self.parts
            .push((part, TransactWriteItem::builder().update(update).build()));
    }

    pub(crate) fn delete(&mut self, part: Part, delete: Delete) {
        self.parts
            .push((part, TransactWriteItem::builder().delete(delete).build()));
    }

    pub(crate) fn check(&mut self, part: Part, check: ConditionCheck) {
        self.parts.push((
            part,
            TransactWriteItem::builder().condition_check(check).build(),
        ));
    }

    /// The removal of what stands at `key`, if anything does.
    pub(crate) fn remove(&mut self, part: Part, key: &Key) -> Result<(), Fault> {
        let delete = Delete::builder()
            .table_name(self.store.name(key.table))
            .set_key(Some(key.item()));
        self.delete(part, delete.build()?);
        Ok(())
    }

    /// The put of an item where none is.
    pub(crate) fn put_new(&mut self, part: Part, key: &Key, item: Item) -> Result<(), Fault> {
        let put = Put::builder()
            .table_name(self.store.name(key.table))
            .set_item(Some(item));
        self.put(
            part,
            put.condition_expression("attribute_not_exists(pk)")
                .build()?,
        );
        Ok(())
    }

    /// The put of an item, whatever stands there.
    pub(crate) fn put_over(&mut self, part: Part, key: &Key, item: Item) -> Result<(), Fault> {
        let put = Put::builder()
            .table_name(self.store.name(key.table))
            .set_item(Some(item));
        self.put(part, put.build()?);
        Ok(())
    }
}
