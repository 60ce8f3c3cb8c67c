//! Delivery receipts of text messages, the last part of their outcome. A carrier reports under the id that it gave the
//! message when it accepted it: the item of that id has the message, written by its sender, and the receipt. They are written
//! in either order; the second writer ends the message. A message whose outcome is unknown has no such id: its receipt is kept
//! and changes nothing.

use domain::{Instant, outbox::State, sms::Receipt, times::RECEIPT_RETENTION};
use serde::Deserialize;

use crate::{Outbound, Store, StoreError, keys, write::Write};

/// What is known under an id of the carrier.
#[derive(Deserialize)]
struct ReceiptItem {
    #[serde(rename = "messagePk", default)]
    message: Option<String>,
    #[serde(default)]
    receipt: Option<Receipt>,
}

impl Store {
    /// Records that the carrier gave the message `what` the id `message_id`, and the receipt if there is one already. Can
    /// be repeated.
    pub async fn record_message_id(
        &self,
        message_id: &str,
        what: Outbound,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = Write::at(&keys::receipt(message_id))
            .expression("SET messagePk = if_not_exists(messagePk, :pk), #ttl = :ttl")
            .expiring(now.after(RECEIPT_RETENTION))
            .text(":pk", &what.key().pk);
        if let Some(known) = self.update_item::<ReceiptItem>(update).await? {
            self.end_delivery(known, now).await?;
        }
        Ok(())
    }

    /// Records `receipt`, which the carrier wrote about its message `message_id`. Only the first receipt of an id counts. Can
    /// be repeated.
    pub async fn record_receipt(
        &self,
        message_id: &str,
        receipt: &Receipt,
        now: Instant,
    ) -> Result<(), StoreError> {
        let put = Write::at(&keys::receipt(message_id))
            .expression("SET receipt = if_not_exists(receipt, :receipt), #ttl = :ttl")
            .expiring(now.after(RECEIPT_RETENTION))
            .value(":receipt", receipt);
        if let Some(known) = self.update_item::<ReceiptItem>(put).await? {
            self.end_delivery(known, now).await?;
        }
        Ok(())
    }

    /// Ends the message of `known` as its receipt says, once.
    async fn end_delivery(&self, known: ReceiptItem, now: Instant) -> Result<(), StoreError> {
        let what = known.message.as_deref().and_then(Outbound::of);
        let Some((what, Receipt { status, reason })) = what.zip(known.receipt) else {
            return Ok(());
        };
        let update = Write::at(&what.key())
            .when("card.#status = :sent")
            .expression("SET card.#status = :status, card.#reason = :reason, card.updatedAt = :now")
            .name("#status", "status")
            .name("#reason", "reason")
            .value(":sent", &State::Sent)
            .value(":status", &status)
            .text(":reason", &reason)
            .value(":now", &now);
        self.apply(update).await.map(drop)
    }
}
