//! One-time codes: at most one of a kind at each place, which is an address or a person.

use aws_sdk_dynamodb::types::{Delete, Update};
use domain::{
    Instant,
    code::{Code, CodeKind, TRIES, TRIES_PER_NETWORK},
};
use uuid::Uuid;

use crate::{
    Fault, Part, Store, Transaction, keys,
    table::{number, text, ttl, value},
};

impl Store {
    /// The code of `kind` at `place`, dead or alive.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn code(&self, kind: CodeKind, place: Uuid) -> Result<Option<Code>, Fault> {
        self.get(&keys::code(kind, place)).await
    }

    /// Counts a wrong try of the code of `kind` at `place`, for `network` and for all; nothing, when
    /// there is none that is alive.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn count_try(
        &self,
        kind: CodeKind,
        place: Uuid,
        network: &str,
        now: Instant,
    ) -> Result<(), Fault> {
        let key = keys::code(kind, place);
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
        self.update::<serde::de::IgnoredAny>(counted.build()?)
            .await?;
        Ok(())
    }
}

impl Transaction {
    /// Keeps `code` in place of an earlier one of its kind at `place`.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn keep_code(&mut self, kind: CodeKind, place: Uuid, code: &Code) -> Result<(), Fault> {
        let key = keys::code(kind, place);
        let mut item = key.holding(code)?;
        item.extend([ttl(code.expires_at)]);
        self.put_over(Part::Code, &key, item)
    }

    /// Uses `code` up; refused when it was used or replaced, or is dead for `network` at `now`. Of many
    /// at once exactly one is not refused.
    ///
    /// # Errors
    /// None that comes from outside.
    pub fn use_code(
        &mut self,
        kind: CodeKind,
        place: Uuid,
        code: &Code,
        network: &str,
        now: Instant,
    ) -> Result<(), Fault> {
        let key = keys::code(kind, place);
        let used = Delete::builder()
            .table_name(self.store.name(key.table))
            .set_key(Some(key.item()))
            .condition_expression(format!("link = :link AND {ALIVE}"))
            .expression_attribute_names("#network", network)
            .expression_attribute_values(":link", text(&code.link))
            .expression_attribute_values(":now", value(&now)?)
            .expression_attribute_values(":most", number(TRIES))
            .expression_attribute_values(":mostHere", number(TRIES_PER_NETWORK));
        self.delete(Part::Code, used.build()?);
        Ok(())
    }
}

/// [`Code::is_alive`], as the table sees it.
const ALIVE: &str = "expiresAt > :now AND tries < :most AND (attribute_not_exists(networks.#network) OR networks.#network < :mostHere)";
