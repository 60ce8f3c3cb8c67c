//! Messages on their way out: `QUEUED → SENDING → SENT | FAILED | UNKNOWN`. Letters of the service and text
//! messages that people send go the same way.

use std::{fmt, time::Duration};

use aws_sdk_dynamodb::types::{Update, builders::UpdateBuilder};
use domain::{
    Instant, SmsId,
    outbox::{Outgoing, State},
    sms::{Cause, Sms},
};
use serde::{Deserialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{
    Fault, Part, Store, Transaction,
    keys::{self, Key, OUTBOX_DUE, OUTBOX_PREFIX, SMS_PREFIX, SWEPT_AFTER},
    table::{Carded, due, number, ttl, value},
};

/// How long it is known what became of a letter.
const KEPT: Duration = Duration::from_secs(30 * 86_400);

/// Which message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outbound {
    /// A letter of the service itself.
    Letter(Uuid),
    /// A text message that a person sends.
    Sms(SmsId),
}

/// A message that is this caller's to send, and nobody else's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The message.
    pub content: Content,
    /// How often it was tried, this time counted.
    pub attempts: u32,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A letter of the service itself.
    Letter(Outgoing),
    /// A text message that a person sends.
    Sms(Sms),
}

#[derive(Deserialize)]
struct Taken<T> {
    card: T,
    attempts: u32,
}

impl Outbound {
    /// The message whose partition key is `pk`, if it is one.
    pub fn of(pk: &str) -> Option<Self> {
        let letter = pk.strip_prefix(OUTBOX_PREFIX).and_then(|id| id.parse().ok()).map(Self::Letter);
        letter.or_else(|| pk.strip_prefix(SMS_PREFIX).map(|id| Self::Sms(SmsId::in_path(id))))
    }

    fn key(self) -> Key {
        match self {
            Self::Letter(id) => keys::outbox(id),
            Self::Sms(id) => keys::sms(id),
        }
    }
}

impl fmt::Display for Outbound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Letter(id) => id.fmt(out),
            Self::Sms(id) => id.fmt(out),
        }
    }
}

impl Transaction {
    /// `letter` is on its way.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn send(&mut self, letter: &Outgoing) -> Result<(), Fault> {
        let key = keys::outbox(letter.outbox_id);
        let mut item = key.holding(&Carded { card: letter })?;
        item.extend(due(OUTBOX_DUE, letter.created_at.after(SWEPT_AFTER)));
        self.put_new(Part::New, &key, item)
    }
}

impl Store {
    /// Claims the message `what` at `now` until `until`: it is nobody else's to send. `None` when it is
    /// somebody's already, or has arrived.
    ///
    /// # Errors
    /// When the store is out of reach: then it may be claimed, and nobody sends it before `until`.
    pub async fn claim(&self, what: Outbound, until: Instant, now: Instant) -> Result<Option<Claimed>, Fault> {
        let update = self
            .moving_from(what, State::Queued, "card.#status = :before", now)?
            .update_expression("SET card.#status = :after, card.updatedAt = :now, dueAt = :until ADD attempts :one")
            .expression_attribute_values(":after", value(&State::Sending)?)
            .expression_attribute_values(":until", number(until.unix_milliseconds()))
            .expression_attribute_values(":one", number(1));
        let update = update.build()?;
        match what {
            Outbound::Letter(_) => self.claimed(update, Content::Letter).await,
            Outbound::Sms(_) => self.claimed(update, Content::Sms).await,
        }
    }

    async fn claimed<T: DeserializeOwned>(&self, update: Update, content: fn(T) -> Content) -> Result<Option<Claimed>, Fault> {
        let taken: Option<Taken<T>> = self.update(update).await?;
        Ok(taken.map(|Taken { card, attempts }| Claimed { content: content(card), attempts }))
    }

    /// The message `what` has come to the final state `state`, given up for `cause` if it was; what a letter
    /// said goes.
    ///
    /// # Errors
    /// When the store is out of reach: then the claim runs out, and it ends as `UNKNOWN`.
    pub async fn settle(&self, what: Outbound, state: State, cause: Option<Cause>, now: Instant) -> Result<(), Fault> {
        let update = self.moving_from(what, State::Sending, "card.#status = :before", now)?;
        self.end_message(update, state, cause, now).await.map(|_| ())
    }

    /// Ends the message `what` as `UNKNOWN`, if it is still claimed and the claim ran out before `now`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn give_up_claim(&self, what: Outbound, now: Instant) -> Result<bool, Fault> {
        let update = self.moving_from(what, State::Sending, "card.#status = :before AND dueAt <= :moment", now)?;
        let update = update.expression_attribute_values(":moment", number(now.unix_milliseconds()));
        self.end_message(update, State::Unknown, None, now).await
    }

    async fn end_message(&self, update: UpdateBuilder, state: State, cause: Option<Cause>, now: Instant) -> Result<bool, Fault> {
        let (_, until) = ttl(now.after(KEPT));
        let update = update
            .update_expression(
                "SET card.#status = :after, card.updatedAt = :now, card.failure = :cause, #ttl = if_not_exists(#ttl, :ttl) \
                 REMOVE card.sealed, duePk, dueAt",
            )
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":after", value(&state)?)
            .expression_attribute_values(":cause", value(&cause)?)
            .expression_attribute_values(":ttl", until);
        Ok(self.update::<serde::de::IgnoredAny>(update.build()?).await?.is_some())
    }

    /// The message `what` was not sent and is to be tried again at `at`.
    ///
    /// # Errors
    /// When the store is out of reach: then the claim runs out, and it ends as `UNKNOWN`.
    pub async fn put_off(&self, what: Outbound, at: Instant, now: Instant) -> Result<(), Fault> {
        let update = self
            .moving_from(what, State::Sending, "card.#status = :before", now)?
            .update_expression("SET card.#status = :after, card.updatedAt = :now, dueAt = :at")
            .expression_attribute_values(":after", value(&State::Queued)?)
            .expression_attribute_values(":at", number(at.unix_milliseconds()));
        self.update::<serde::de::IgnoredAny>(update.build()?).await?;
        Ok(())
    }

    /// The message `what` that nobody has claimed is the sweeper's from `now` on.
    ///
    /// # Errors
    /// When the store is out of reach: then it is the sweeper's when its minute is over.
    pub async fn leave_to_sweeper(&self, what: Outbound, now: Instant) -> Result<(), Fault> {
        let update = self
            .moving_from(what, State::Queued, "card.#status = :before AND dueAt > :moment", now)?
            .update_expression("SET card.updatedAt = :now, dueAt = :moment")
            .expression_attribute_values(":moment", number(now.unix_milliseconds()));
        self.update::<serde::de::IgnoredAny>(update.build()?).await?;
        Ok(())
    }

    /// An update of `what` under a condition in which `:before` is `state`.
    fn moving_from(&self, what: Outbound, state: State, condition: &str, now: Instant) -> Result<UpdateBuilder, Fault> {
        let key = what.key();
        let update = Update::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression(condition)
            .expression_attribute_names("#status", "status")
            .expression_attribute_values(":before", value(&state)?)
            .expression_attribute_values(":now", value(&now)?);
        Ok(update)
    }
}
