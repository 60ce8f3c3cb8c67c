//! One-time codes: at most one of each kind per challenge.

use domain::{
    Instant,
    code::{Code, CodeId, MAX_TRIES_PER_NETWORK},
};

use crate::{Part, Store, StoreError, Transaction, keys, table::ttl, write::Write};

impl Store {
    /// The code `id`, unless it has expired at `now`.
    pub async fn code(&self, id: CodeId, now: Instant) -> Result<Option<Code>, StoreError> {
        let code: Option<Code> = self.get(&keys::code(id.kind, id.challenge)).await?;
        Ok(code.filter(|code| now < code.expires_at))
    }

    /// Counts an attempt from `network` at the digits of the code `id`, and returns the code. `None` when
    /// there is none, or it has expired, or its digits have had too many attempts from there. An attempt is counted before it
    /// is compared, so that concurrent ones are not more than sequential ones.
    pub async fn count_attempt(
        &self,
        id: CodeId,
        network: &str,
        now: Instant,
    ) -> Result<Option<Code>, StoreError> {
        let key = keys::code(id.kind, id.challenge);
        let counted = Write::at(&key)
            .when("expiresAt > :now AND (attribute_not_exists(networks.#network) OR networks.#network < :most)")
            .expression("SET networks.#network = if_not_exists(networks.#network, :zero) + :one")
            .name("#network", network)
            .value(":now", &now)
            .number(":most", MAX_TRIES_PER_NETWORK)
            .number(":zero", 0)
            .number(":one", 1);
        self.update_item(counted).await
    }

    /// Takes back an attempt from `network` at `code`, which has the id `id`, if it was not used or replaced.
    pub async fn return_attempt(
        &self,
        id: CodeId,
        code: &Code,
        network: &str,
    ) -> Result<(), StoreError> {
        let returned = Write::at(&keys::code(id.kind, id.challenge))
            .when("link = :link")
            .expression("SET networks.#network = networks.#network - :one")
            .name("#network", network)
            .text(":link", &code.link)
            .number(":one", 1);
        self.apply(returned).await.map(drop)
    }
}

impl Transaction {
    /// Stores `code`; it replaces an earlier one with the same id.
    pub fn put_code(&mut self, id: CodeId, code: &Code) {
        let put = keys::code(id.kind, id.challenge).holding(code).with([ttl(code.expires_at)]);
        self.put(Part::Code, put);
    }

    /// Uses up `code`, which had not expired when the request came. The condition fails (`Part::Code`) when it was used or
    /// replaced; of several concurrent uses exactly one succeeds.
    pub fn use_code(&mut self, id: CodeId, code: &Code) {
        let key = keys::code(id.kind, id.challenge);
        let used = Write::at(&key).when("link = :link").text(":link", &code.link);
        self.delete(Part::Code, used);
    }
}
