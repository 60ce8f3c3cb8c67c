//! One-time codes, and the messages that carry them.

use aws_sdk_dynamodb::types::{AttributeValue, Delete, Put, Update};
use domain::{
    Instant, UserId,
    code::{Code, CodeKind, TRIES, TRIES_PER_NETWORK},
    outbox::Outgoing,
};

use crate::{
    Fault, Store,
    keys::{self, Table},
    table::{Outcome, number, part_delete, part_put, text, ttl, value},
};

impl Store {
    /// Keeps `code` in place of an earlier one of its kind, and the message that carries it, in one
    /// transaction: there is no code that nobody is told, and no message with a dead code.
    ///
    /// # Errors
    /// When the store is out of reach: then the earlier code is still good.
    pub async fn issue_code(&self, code: &Code, message: &Outgoing) -> Result<(), Fault> {
        let mut kept = keys::code(code.user_id, code.kind).holding(code)?;
        kept.extend([("tries".to_owned(), number(0)), ("networks".to_owned(), AttributeValue::M([].into())), ttl(code.expires_at)]);
        let mut queued = keys::outbox(message.outbox_id).holding(message)?;
        queued.extend([("duePk".to_owned(), text(keys::OUTBOX_DUE)), ("dueAt".to_owned(), number(message.due_at.unix_milliseconds()))]);
        let kept = Put::builder().table_name(self.name(Table::Transient)).set_item(Some(kept)).build()?;
        let queued = self.new_item(&keys::outbox(message.outbox_id), queued)?;
        match self.transact(vec![part_put(kept), part_put(queued)]).await? {
            Outcome::Done => Ok(()),
            Outcome::Refused(_) => Err(Fault::Broken("a new identifier was taken".to_owned())),
        }
    }

    /// Uses the code of `kind` of `user` up, if `mac` is the HMAC of its digits or of its link and it
    /// is alive for `network` at `now`: whether it did. Of many at once exactly one does; a wrong
    /// try is counted for the network and for all.
    ///
    /// # Errors
    /// When the store is out of reach: then nothing was used up.
    pub async fn use_code(&self, user: UserId, kind: CodeKind, mac: &str, network: &str, now: Instant) -> Result<bool, Fault> {
        let key = keys::code(user, kind);
        let used = Delete::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression(format!("(digits = :mac OR link = :mac) AND {ALIVE}"))
            .expression_attribute_names("#network", network)
            .expression_attribute_values(":mac", text(mac))
            .expression_attribute_values(":now", value(&now)?)
            .expression_attribute_values(":most", number(TRIES))
            .expression_attribute_values(":mostHere", number(TRIES_PER_NETWORK));
        if self.transact(vec![part_delete(used.build()?)]).await? == Outcome::Done {
            return Ok(true);
        }
        let counted = Update::builder()
            .table_name(self.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression(ALIVE)
            .update_expression("SET networks.#network = if_not_exists(networks.#network, :zero) + :one ADD tries :one")
            .expression_attribute_names("#network", network)
            .expression_attribute_values(":now", value(&now)?)
            .expression_attribute_values(":most", number(TRIES))
            .expression_attribute_values(":mostHere", number(TRIES_PER_NETWORK))
            .expression_attribute_values(":zero", number(0))
            .expression_attribute_values(":one", number(1));
        self.update::<serde::de::IgnoredAny>(counted.build()?).await?;
        Ok(false)
    }
}

/// Neither out of time nor tried too often.
const ALIVE: &str = "expiresAt > :now AND tries < :most AND (attribute_not_exists(networks.#network) OR networks.#network < :mostHere)";
