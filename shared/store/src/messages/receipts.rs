//! Delivery receipts of text messages. A carrier reports under the id that it gave the message when it accepted it: the
//! item of that id has the message, written by its sender, and the receipt. They are written in either order; the second
//! writer ends the message. A message whose outcome is unknown has no such id. A receipt whose id is unknown is
//! therefore compared with the texts that were about to be sent to its number at its time.

use std::time::Duration;

use domain::{E164, Instant, outbox::State, sms::Receipt};
use serde::Deserialize;

use crate::{
    Outbound, Page, Store, StoreError,
    keys::{self, Table},
    outbox::{RETENTION, Status},
    table::text,
    write::Write,
};

/// How long a receipt can be matched with its message. Receipts take up to 72 hours
/// (<https://repost.aws/knowledge-center/monitor-sns-texts-cloudwatch>).
const MATCHING_TIME: Duration = Duration::from_secs(4 * 86_400);
/// Maximum time from the announcement of a text message until the carrier accepts it: two seconds until its slot, ten
/// until the request times out, and differences between the clocks.
const SENDING_TIME: Duration = Duration::from_secs(20);
/// How much the clock of the carrier may be behind.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(3);
/// Announced texts to one number within that time; if there are more, none is matched.
const MAX_CANDIDATES: u16 = 50;

/// What is known under an id of the carrier.
#[derive(Deserialize)]
struct Known {
    #[serde(rename = "messagePk", default)]
    message: Option<String>,
    #[serde(default)]
    receipt: Option<Receipt>,
}

/// A text message that a receipt is kept for until its sending has ended.
#[derive(Deserialize)]
struct Candidate {
    card: Status,
    #[serde(rename = "receiptID")]
    receipt_id: String,
}

#[derive(Deserialize)]
struct Announced {
    sk: String,
}

impl Store {
    /// Records that the text message `what` is about to be sent to `number`.
    pub async fn announce_text(
        &self,
        what: Outbound,
        number: &E164,
        now: Instant,
    ) -> Result<(), StoreError> {
        let put = Write::at(&keys::text_to(number, now, &what.key().pk))
            .expression("SET #ttl = :ttl")
            .expiring(now.after(MATCHING_TIME));
        self.apply(put).await.map(drop)
    }

    /// Records that the carrier gave the message `what` the id `message_id`, and the receipt if there is one already. Can
    /// be repeated.
    pub async fn link_receipt(
        &self,
        message_id: &str,
        what: Outbound,
        now: Instant,
    ) -> Result<(), StoreError> {
        let link = Write::at(&keys::receipt(message_id))
            .expression("SET messagePk = if_not_exists(messagePk, :pk), #ttl = :ttl")
            .expiring(now.after(MATCHING_TIME))
            .text(":pk", &what.key().pk);
        if let Some(known) = self.update_item::<Known>(link).await? {
            self.end_delivery(known, now).await?;
        }
        Ok(())
    }

    /// Records `receipt`, which the carrier wrote about its message `message_id` to `number`, accepted at `accepted_at`.
    /// Only the first receipt of an id counts. Can be repeated.
    pub async fn record_receipt(
        &self,
        message_id: &str,
        number: &E164,
        accepted_at: Instant,
        receipt: &Receipt,
        now: Instant,
    ) -> Result<(), StoreError> {
        let put = Write::at(&keys::receipt(message_id))
            .expression("SET receipt = if_not_exists(receipt, :receipt), #ttl = :ttl")
            .expiring(now.after(MATCHING_TIME))
            .value(":receipt", receipt);
        if let Some(known) = self.update_item::<Known>(put).await?
            && self.end_delivery(known, now).await?
        {
            return Ok(());
        }
        match self.candidates(number, accepted_at).await?.as_slice() {
            [what] => self.match_receipt(message_id, *what, now).await,
            // Of another application of the account, or of one of several messages.
            _ => Ok(()),
        }
    }

    /// Ends the message of `known` as its receipt says, once. Returns whether the message is known. A message that is
    /// still `SENDING` ends as well: its id proves that the carrier has accepted it.
    async fn end_delivery(&self, known: Known, now: Instant) -> Result<bool, StoreError> {
        let Some(what) = known.message.as_deref().and_then(Outbound::of) else {
            return Ok(false);
        };
        let Some(Receipt { status, reason }) = known.receipt else {
            return Ok(true);
        };
        let update = Write::at(&what.key())
            .when("card.#status IN (:sending, :sent, :unknown)")
            .expression(
                "SET card.#status = :status, card.#reason = :reason, card.updatedAt = :now, #ttl = if_not_exists(#ttl, :ttl) \
                 REMOVE card.sealed, duePk, dueAt",
            )
            .name("#status", "status")
            .name("#reason", "reason")
            .expiring(now.after(RETENTION))
            .value(":sending", &State::Sending)
            .value(":sent", &State::Sent)
            .value(":unknown", &State::Unknown)
            .value(":status", &status)
            .text(":reason", &reason)
            .value(":now", &now);
        self.apply(update).await?;
        Ok(true)
    }

    /// The text messages to `number` that the carrier may have accepted at `accepted_at` under an unknown id: those that
    /// are being sent, and those whose outcome is unknown. None if there are too many.
    async fn candidates(
        &self,
        number: &E164,
        accepted_at: Instant,
    ) -> Result<Vec<Outbound>, StoreError> {
        let first = keys::text_to(number, accepted_at.before(SENDING_TIME), "");
        let last = keys::text_to(number, accepted_at.after(CLOCK_DIFFERENCE), "");
        let values =
            [(":pk", text(&first.pk)), (":first", text(&first.sk)), (":last", text(&last.sk))];
        let condition = "pk = :pk AND sk BETWEEN :first AND :last";
        let request = self.select(Table::Transient, condition, values).consistent_read(true);
        let page: Page<Announced> = self.page(request, "sk", MAX_CANDIDATES).await?;
        if page.last.is_some() {
            return Ok(Vec::new());
        }
        let mut candidates = Vec::new();
        for announced in page.items {
            // `AT#<time>#<message>`; a message that was tried twice has two entries.
            let message = announced.sk.splitn(3, '#').nth(2).and_then(Outbound::of);
            let Some(what) = message.filter(|what| !candidates.contains(what)) else {
                continue;
            };
            let message = self.outbound(what).await?;
            if message
                .is_some_and(|message| matches!(message.status(), State::Sending | State::Unknown))
            {
                candidates.push(what);
            }
        }
        Ok(candidates)
    }

    /// Matches the receipt of `message_id` with `what`, the only candidate. If `what` is still being sent, the receipt is
    /// kept with it, because it may be refused or get another id; it is matched if the outcome is unknown.
    async fn match_receipt(
        &self,
        message_id: &str,
        what: Outbound,
        now: Instant,
    ) -> Result<(), StoreError> {
        let keep = Write::at(&what.key())
            .when("card.#status IN (:sending, :unknown)")
            .expression("SET receiptID = if_not_exists(receiptID, :id)")
            .name("#status", "status")
            .value(":sending", &State::Sending)
            .value(":unknown", &State::Unknown)
            .text(":id", message_id);
        match self.update_item::<Candidate>(keep).await? {
            Some(Candidate { card, receipt_id }) if card.status == State::Unknown => {
                self.link_receipt(&receipt_id, what, now).await
            }
            _ => Ok(()),
        }
    }
}
