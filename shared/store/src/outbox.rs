//! Messages on their way out: `QUEUED → SENDING → SENT | FAILED | UNKNOWN`. Letters of the service and text
//! messages that people send go the same way.

use std::{fmt, time::Duration};

use domain::{
    Instant, SmsId,
    outbox::{OutboxItem, State},
    sms::{Cause, LIFE, Sms},
};
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    Due, Part, Store, StoreError, Transaction,
    keys::{self, Key, OUTBOX_DUE, OUTBOX_PREFIX, SMS_PREFIX, SWEEP_DELAY},
    table::{ListedItem, due, ttl},
    write::Write,
};

/// How long it is known what became of a letter.
const KEPT: Duration = Duration::from_secs(30 * 86_400);

/// Which message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outbound {
    /// A letter of the service itself.
    OutboxMessage(Uuid),
    /// A text message that a person sends.
    Sms(SmsId),
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A letter of the service itself.
    OutboxMessage(OutboxItem),
    /// A text message that a person sends.
    Sms(Sms),
}

#[derive(Deserialize)]
struct ClaimedItem {
    attempts: u32,
}

impl Content {
    /// How far it has come.
    pub const fn status(&self) -> State {
        match self {
            Self::OutboxMessage(letter) => letter.status,
            Self::Sms(sms) => sms.status,
        }
    }

    /// After this nobody wants it any more.
    pub fn useless_at(&self) -> Instant {
        match self {
            Self::OutboxMessage(letter) => letter.useless_at,
            Self::Sms(sms) => sms.sending.created_at.after(LIFE),
        }
    }
}

impl Outbound {
    /// The message whose partition key is `pk`, if it is one.
    pub fn of(pk: &str) -> Option<Self> {
        let letter = pk
            .strip_prefix(OUTBOX_PREFIX)
            .and_then(|id| id.parse().ok())
            .map(Self::OutboxMessage);
        letter.or_else(|| {
            pk.strip_prefix(SMS_PREFIX)
                .map(|id| Self::Sms(SmsId::in_path(id)))
        })
    }

    fn key(self) -> Key {
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
    /// `letter` is on its way.
    pub fn send(&mut self, letter: &OutboxItem) {
        let key = keys::outbox(letter.outbox_id);
        let put = key
            .holding(&ListedItem { card: letter })
            .with(due(OUTBOX_DUE, letter.created_at.after(SWEEP_DELAY)));
        self.put_new(Part::New, put);
    }
}

impl Store {
    /// The message `what`, however far it has come.
    pub async fn outbound(&self, what: Outbound) -> Result<Option<Content>, StoreError> {
        let key = what.key();
        Ok(match what {
            Outbound::OutboxMessage(_) => self
                .get::<ListedItem<OutboxItem>>(&key)
                .await?
                .map(|item| Content::OutboxMessage(item.card)),
            Outbound::Sms(_) => self
                .get::<ListedItem<Sms>>(&key)
                .await?
                .map(|item| Content::Sms(item.card)),
        })
    }

    /// Puts the message of `due` off until `until` without claiming it: others do not look at it meanwhile, and
    /// whoever dies over it leaves it as it is. The same as it is due then; `None` when it is claimed, or
    /// somebody was faster.
    ///
    /// # Errors
    /// When the store is out of reach: then it may be put off.
    pub async fn lease(&self, due: &Due, until: Instant) -> Result<Option<Due>, StoreError> {
        let lease = self
            .marked(
                due,
                "duePk = :pk AND dueAt = :at AND card.#status = :queued",
            )
            .expression("SET dueAt = :until")
            .name("#status", "status")
            .value(":queued", &State::Queued)
            .number(":until", until.unix_milliseconds());
        self.update_item(lease).await
    }

    /// Claims the message `what` at `now` until `until`: it is nobody else's to send. How often it was tried,
    /// this time counted; `None` when it is somebody's already, or has arrived.
    ///
    /// # Errors
    /// When the store is out of reach: then it may be claimed, and nobody sends it before `until`.
    pub async fn claim(
        &self,
        what: Outbound,
        until: Instant,
        now: Instant,
    ) -> Result<Option<u32>, StoreError> {
        let update = moving_from(what, State::Queued, "card.#status = :before", now)
            .expression("SET card.#status = :after, card.updatedAt = :now, dueAt = :until ADD attempts :one")
            .value(":after", &State::Sending)
            .number(":until", until.unix_milliseconds())
            .number(":one", 1);
        let taken: Option<ClaimedItem> = self.update_item(update).await?;
        Ok(taken.map(|taken| taken.attempts))
    }

    /// The message `what`, claimed as the try `attempts`, has come to the final state `state`, given up for
    /// `cause` if it was; what a letter said goes. May be told again: it holds for this try alone.
    ///
    /// # Errors
    /// When the store is out of reach: if nobody tells it again, the claim runs out, and it ends as `UNKNOWN`.
    pub async fn settle(
        &self,
        what: Outbound,
        attempts: u32,
        state: State,
        cause: Option<Cause>,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = moving_from(
            what,
            State::Sending,
            "card.#status = :before AND attempts = :attempts",
            now,
        );
        let update = update.number(":attempts", attempts);
        self.end_message(update, state, cause, now)
            .await
            .map(|_| ())
    }

    /// Ends the message `what` as `UNKNOWN`, if it is still claimed and the claim ran out before `now`.
    pub async fn expire_claim(&self, what: Outbound, now: Instant) -> Result<bool, StoreError> {
        let update = moving_from(
            what,
            State::Sending,
            "card.#status = :before AND dueAt <= :moment",
            now,
        );
        let update = update.number(":moment", now.unix_milliseconds());
        self.end_message(update, State::Unknown, None, now).await
    }

    async fn end_message(
        &self,
        update: Write,
        state: State,
        cause: Option<Cause>,
        now: Instant,
    ) -> Result<bool, StoreError> {
        let (_, until) = ttl(now.after(KEPT));
        let update = update
            .expression(
                "SET card.#status = :after, card.updatedAt = :now, card.failure = :cause, #ttl = if_not_exists(#ttl, :ttl) \
                 REMOVE card.sealed, duePk, dueAt",
            )
            .name("#ttl", "ttl")
            .value(":after", &state)
            .value(":cause", &cause)
            .attribute(":ttl", until);
        Ok(self
            .update_item::<serde::de::IgnoredAny>(update)
            .await?
            .is_some())
    }

    /// The message `what`, claimed as the try `attempts`, was not sent and is to be tried again at `at`. May be
    /// told again: it holds for this try alone.
    ///
    /// # Errors
    /// As [`settle`](Self::settle).
    pub async fn put_off(
        &self,
        what: Outbound,
        attempts: u32,
        at: Instant,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = moving_from(
            what,
            State::Sending,
            "card.#status = :before AND attempts = :attempts",
            now,
        )
        .number(":attempts", attempts)
        .expression("SET card.#status = :after, card.updatedAt = :now, dueAt = :at")
        .value(":after", &State::Queued)
        .number(":at", at.unix_milliseconds());
        self.apply(update).await?;
        Ok(())
    }

    /// The message `what`, unless somebody has claimed it, is the sweeper's from `now` on.
    ///
    /// # Errors
    /// When the store is out of reach: then it is the sweeper's when its minute is over.
    pub async fn leave_to_sweeper(&self, what: Outbound, now: Instant) -> Result<(), StoreError> {
        let update = moving_from(
            what,
            State::Queued,
            "card.#status = :before AND dueAt > :moment",
            now,
        )
        .expression("SET card.updatedAt = :now, dueAt = :moment")
        .number(":moment", now.unix_milliseconds());
        self.apply(update).await?;
        Ok(())
    }
}

/// An update of `what` under a condition in which `:before` is `state`.
fn moving_from(what: Outbound, state: State, condition: &str, now: Instant) -> Write {
    Write::at(&what.key())
        .when(condition)
        .name("#status", "status")
        .value(":before", &state)
        .value(":now", &now)
}
