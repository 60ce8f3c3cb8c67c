//! Messages on their way out: `QUEUED → SENDING → SENT | FAILED | UNKNOWN`.

use std::time::Duration;

use aws_sdk_dynamodb::types::Update;
use domain::{
    Instant,
    outbox::{Outgoing, State},
};
use uuid::Uuid;

use crate::{
    Fault, Part, Store, Transaction,
    keys::{self, OUTBOX_DUE, OUTBOX_PREFIX, SWEPT_AFTER},
    table::{due, number, ttl, value},
};

/// How long it is known what became of a message.
const KEPT: Duration = Duration::from_secs(30 * 86_400);

/// The message whose partition key is `pk`, if it is one.
pub fn outbox_id(pk: &str) -> Option<Uuid> {
    pk.strip_prefix(OUTBOX_PREFIX)?.parse().ok()
}

impl Transaction {
    /// `message` is on its way.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn send(&mut self, message: &Outgoing) -> Result<(), Fault> {
        let key = keys::outbox(message.outbox_id);
        let mut item = key.holding(message)?;
        item.extend(due(OUTBOX_DUE, message.created_at.after(SWEPT_AFTER)));
        self.put_new(Part::New, &key, item)
    }
}

impl Store {
    /// The messages that are due at `now`, the longest waiting first, at most `limit`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn due_messages(&self, now: Instant, limit: u16) -> Result<Vec<Uuid>, Fault> {
        Ok(self.due(OUTBOX_DUE, now, limit).await?.iter().filter_map(|pk| outbox_id(pk)).collect())
    }

    /// The message `id`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn message(&self, id: Uuid) -> Result<Option<Outgoing>, Fault> {
        self.get(&keys::outbox(id)).await
    }

    /// Claims the message `id` at `now` until `until`: it is nobody else's to send. `None` when it is
    /// somebody's already, or has arrived.
    ///
    /// # Errors
    /// When the store is out of reach: then it may be claimed, and nobody sends it before `until`.
    pub async fn claim(&self, id: Uuid, until: Instant) -> Result<Option<Outgoing>, Fault> {
        let key = keys::outbox(id);
        let update = Update::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression("#state = :queued")
            .update_expression("SET #state = :sending, dueAt = :until ADD attempts :one")
            .expression_attribute_names("#state", "state")
            .expression_attribute_values(":queued", value(&State::Queued)?)
            .expression_attribute_values(":sending", value(&State::Sending)?)
            .expression_attribute_values(":one", number(1))
            .expression_attribute_values(":until", number(until.unix_milliseconds()));
        self.update(update.build()?).await
    }

    /// The message `id` has come to the final state `state`; what it said goes.
    ///
    /// # Errors
    /// When the store is out of reach: then the claim runs out, and it ends as `UNKNOWN`.
    pub async fn settle(&self, id: Uuid, state: State, now: Instant) -> Result<(), Fault> {
        let key = keys::outbox(id);
        let (_, until) = ttl(now.after(KEPT));
        let update = Update::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression("#state = :sending")
            .update_expression("SET #state = :state, #ttl = :ttl REMOVE sealed, duePk, dueAt")
            .expression_attribute_names("#state", "state")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":sending", value(&State::Sending)?)
            .expression_attribute_values(":state", value(&state)?)
            .expression_attribute_values(":ttl", until);
        self.update::<serde::de::IgnoredAny>(update.build()?).await?;
        Ok(())
    }

    /// The message `id` was not sent and is to be tried again at `at`.
    ///
    /// # Errors
    /// When the store is out of reach: then the claim runs out, and it ends as `UNKNOWN`.
    pub async fn put_off(&self, id: Uuid, at: Instant) -> Result<(), Fault> {
        let key = keys::outbox(id);
        let update = Update::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression("#state = :sending")
            .update_expression("SET #state = :queued, dueAt = :at")
            .expression_attribute_names("#state", "state")
            .expression_attribute_values(":sending", value(&State::Sending)?)
            .expression_attribute_values(":queued", value(&State::Queued)?)
            .expression_attribute_values(":at", number(at.unix_milliseconds()));
        self.update::<serde::de::IgnoredAny>(update.build()?).await?;
        Ok(())
    }

    /// Ends the message `id` as `UNKNOWN`, if it is still claimed and the claim ran out before `now`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn give_up_claim(&self, id: Uuid, now: Instant) -> Result<bool, Fault> {
        let key = keys::outbox(id);
        let (_, until) = ttl(now.after(KEPT));
        let update = Update::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression("#state = :sending AND dueAt <= :now")
            .update_expression("SET #state = :unknown, #ttl = :ttl REMOVE sealed, duePk, dueAt")
            .expression_attribute_names("#state", "state")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":sending", value(&State::Sending)?)
            .expression_attribute_values(":unknown", value(&State::Unknown)?)
            .expression_attribute_values(":now", number(now.unix_milliseconds()))
            .expression_attribute_values(":ttl", until);
        Ok(self.update::<serde::de::IgnoredAny>(update.build()?).await?.is_some())
    }
}
