//! Delivery of messages: `QUEUED → SENDING → SENT | FAILED | UNKNOWN`. It is the same for outbox messages, which
//! the service sends, and text messages, which users send. What carriers report afterwards is in `receipts.rs`.

use std::{fmt, time::Duration};

use domain::{
    Instant, SmsId,
    outbox::{OutboxItem, State},
    sms::{Cause, Sms},
    times::{MAIL_SWEEP_DELAY, OUTBOX_RETENTION, SWEEP_DELAY},
};
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    Due, Part, Store, StoreError, Transaction,
    keys::{self, DueList, Key},
    table::{ListedItem, due},
    write::Write,
};

/// The id of a message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outbound {
    /// A message of the service.
    OutboxMessage(Uuid),
    /// A text message of a user.
    Sms(SmsId),
}

/// A message to send, in any state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutboundMessage {
    /// A message of the service, with its sealed content.
    OutboxMessage(OutboxItem),
    /// A text message of a user, without its text.
    Sms(Sms),
}

/// The state alone of a message's `card`.
#[derive(Deserialize)]
pub(crate) struct Status {
    pub(crate) status: State,
}

/// A claimed message.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    /// The number of attempts including this one.
    pub attempts: u32,
    /// When it was claimed for the first attempt.
    pub tried_at: Instant,
}

impl OutboundMessage {
    /// The state of its delivery.
    pub const fn status(&self) -> State {
        match self {
            Self::OutboxMessage(message) => message.status,
            Self::Sms(sms) => sms.status,
        }
    }
}

impl Outbound {
    /// The message with the partition key `pk`; `None` for other items.
    pub fn of(pk: &str) -> Option<Self> {
        match pk.split_once('#')? {
            ("OUTBOX", id) => id.parse().ok().map(Self::OutboxMessage),
            ("SMS", id) => Some(Self::Sms(SmsId::or_none(id))),
            _ => None,
        }
    }

    pub(crate) fn key(self) -> Key {
        match self {
            Self::OutboxMessage(id) => keys::outbox(id),
            Self::Sms(id) => keys::sms(id),
        }
    }
}

impl fmt::Display for Outbound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutboxMessage(id) => id.fmt(out),
            Self::Sms(id) => id.fmt(out),
        }
    }
}

impl Transaction {
    /// Queues `message`.
    pub fn send(&mut self, message: &OutboxItem) {
        self.queue(message, DueList::Outbox, SWEEP_DELAY)
    }

    /// Queues `message`, a mail of which one event may cause thousands: it is sent at the rate of mails.
    pub fn send_at_rate(&mut self, message: &OutboxItem) {
        self.queue(message, DueList::Mails, MAIL_SWEEP_DELAY)
    }

    fn queue(&mut self, message: &OutboxItem, list: DueList, delay: Duration) {
        let key = keys::outbox(message.outbox_id);
        let put = key.holding(&ListedItem { card: message }).with(due(
            list,
            &key,
            message.created_at.after(delay),
        ));
        self.put_new(Part::Other, put);
    }
}

impl Store {
    /// The message `what`, in any state.
    pub async fn outbound(&self, what: Outbound) -> Result<Option<OutboundMessage>, StoreError> {
        let key = what.key();
        Ok(match what {
            Outbound::OutboxMessage(_) => {
                let message = self.card(&key).await?;
                message.map(OutboundMessage::OutboxMessage)
            }
            Outbound::Sms(_) => self.card(&key).await?.map(OutboundMessage::Sms),
        })
    }

    /// Keeps the message of `due`, which a sweep is about to send, from other sweeps until `until`: it is due only then. It is
    /// not claimed, and stays `QUEUED` if this process crashes. A message of a batch moves to the list of those whose turn has
    /// come. Returns the work as it is due then; `None` when the message is claimed or another sweep was faster. After an
    /// error it may be kept.
    pub async fn keep_from_sweeps(
        &self,
        due: &Due,
        until: Instant,
    ) -> Result<Option<Due>, StoreError> {
        let list = if due.list() == Some(DueList::Bulk) {
            DueList::Started.partition_of(&due.pk)
        } else {
            due.due_pk.clone()
        };
        let update = self
            .due_update(due, "dueAt = :at AND card.#status = :queued")
            .expression("SET duePk = :list, dueAt = :until")
            .name("#status", "status")
            .text(":list", &list)
            .value(":queued", &State::Queued)
            .number(":until", until.unix_milliseconds());
        self.update_item(update).await
    }

    /// Claims the queued message `what` until `until`: only the caller may send it. `None` when the message is not
    /// `QUEUED`. After an error it may be claimed; then it ends as `UNKNOWN` after `until`.
    pub async fn claim(
        &self,
        what: Outbound,
        until: Instant,
        now: Instant,
    ) -> Result<Option<Claimed>, StoreError> {
        let update = moving_from(what, State::Queued, "card.#status = :before", now)
            .expression(
                "SET card.#status = :after, card.updatedAt = :now, triedAt = if_not_exists(triedAt, :now), dueAt = :until \
                 ADD attempts :one",
            )
            .value(":after", &State::Sending)
            .number(":until", until.unix_milliseconds())
            .number(":one", 1);
        self.update_item(update).await
    }

    /// Sets the final `state` of the message `what`, and the `cause` if it failed, and removes the content of an
    /// outbox message. Does nothing unless it is claimed as attempt number `attempts`, so the call can be repeated.
    /// If no call succeeds, the claim expires and the message ends as `UNKNOWN`.
    pub async fn record_outcome(
        &self,
        what: Outbound,
        attempts: u32,
        state: State,
        cause: Option<Cause>,
        now: Instant,
    ) -> Result<(), StoreError> {
        self.end_message(moving_claimed(what, attempts, now), state, cause, now).await.map(drop)
    }

    /// Ends the message `what` as `UNKNOWN` if its claim has expired at `now`. Returns whether it did.
    pub async fn expire_claim(&self, what: Outbound, now: Instant) -> Result<bool, StoreError> {
        let condition = "card.#status = :before AND dueAt <= :moment";
        let update = moving_from(what, State::Sending, condition, now)
            .number(":moment", now.unix_milliseconds());
        self.end_message(update, State::Unknown, None, now).await
    }

    async fn end_message(
        &self,
        update: Write,
        state: State,
        cause: Option<Cause>,
        now: Instant,
    ) -> Result<bool, StoreError> {
        let update = update
            .expression(
                "SET card.#status = :after, card.updatedAt = :now, card.failure = :cause, #ttl = if_not_exists(#ttl, :ttl) \
                 REMOVE card.sealed, duePk, dueAt",
            )
            .expiring(now.after(OUTBOX_RETENTION))
            .value(":after", &state)
            .value(":cause", &cause);
        self.apply(update).await
    }

    /// Queues the message `what` again, due at `at`, after it was not sent. Does nothing unless it is claimed as
    /// attempt number `attempts`, as in [`record_outcome`](Self::record_outcome).
    pub async fn requeue(
        &self,
        what: Outbound,
        attempts: u32,
        at: Instant,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = moving_claimed(what, attempts, now)
            .expression("SET card.#status = :after, card.updatedAt = :now, dueAt = :at")
            .value(":after", &State::Queued)
            .number(":at", at.unix_milliseconds());
        self.apply(update).await.map(drop)
    }

    /// Makes the queued message `what` due at `now`, for the next sweep. After an error its due time may be
    /// unchanged.
    pub async fn leave_to_sweeps(&self, what: Outbound, now: Instant) -> Result<(), StoreError> {
        let update = Write::at(&what.key())
            .when("card.#status = :queued AND dueAt > :now")
            .expression("SET dueAt = :now")
            .name("#status", "status")
            .value(":queued", &State::Queued)
            .number(":now", now.unix_milliseconds());
        self.apply(update).await.map(drop)
    }
}

/// An update of `what`, if it is claimed as attempt number `attempts`.
fn moving_claimed(what: Outbound, attempts: u32, now: Instant) -> Write {
    let condition = "card.#status = :before AND attempts = :attempts";
    moving_from(what, State::Sending, condition, now).number(":attempts", attempts)
}

/// An update of `what` under `condition`, in which `:before` is `state`.
fn moving_from(what: Outbound, state: State, condition: &str, now: Instant) -> Write {
    Write::at(&what.key())
        .when(condition)
        .name("#status", "status")
        .value(":before", &state)
        .value(":now", &now)
}
