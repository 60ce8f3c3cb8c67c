//! One-time codes: at most one of a kind at each place, which is an address or a person.

use domain::{
    Instant,
    code::{Code, CodeKind, TRIES, TRIES_PER_NETWORK},
};
use uuid::Uuid;

use crate::{Part, Store, StoreError, Transaction, keys, table::ttl, write::Write};

impl Store {
    /// The code of `kind` at `place`, dead or alive.
    pub async fn code(&self, kind: CodeKind, place: Uuid) -> Result<Option<Code>, StoreError> {
        self.get(&keys::code(kind, place)).await
    }

    /// Counts a wrong try of the code of `kind` at `place`, for `network` and for all; nothing, when
    /// there is none that is alive.
    pub async fn count_try(
        &self,
        kind: CodeKind,
        place: Uuid,
        network: &str,
        now: Instant,
    ) -> Result<(), StoreError> {
        let key = keys::code(kind, place);
        let counted = Write::at(&key)
            .when(ALIVE)
            .expression("SET networks.#network = if_not_exists(networks.#network, :zero) + :one ADD tries :one")
            .name("#network", network)
            .value(":now", &now)
            .number(":most", TRIES)
            .number(":mostHere", TRIES_PER_NETWORK)
            .number(":zero", 0)
            .number(":one", 1);
        self.apply(counted).await?;
        Ok(())
    }
}

impl Transaction {
    /// Keeps `code` in place of an earlier one of its kind at `place`.
    pub fn keep_code(&mut self, kind: CodeKind, place: Uuid, code: &Code) {
        let put = keys::code(kind, place)
            .holding(code)
            .with([ttl(code.expires_at)]);
        self.put(Part::Code, put);
    }

    /// Uses `code` up; refused when it was used or replaced, or is dead for `network` at `now`. Of many
    /// at once exactly one is not refused.
    pub fn use_code(
        &mut self,
        kind: CodeKind,
        place: Uuid,
        code: &Code,
        network: &str,
        now: Instant,
    ) {
        let key = keys::code(kind, place);
        let used = Write::at(&key)
            .when(format!("link = :link AND {ALIVE}"))
            .name("#network", network)
            .text(":link", &code.link)
            .value(":now", &now)
            .number(":most", TRIES)
            .number(":mostHere", TRIES_PER_NETWORK);
        self.delete(Part::Code, used);
    }
}

/// [`Code::is_alive`], as the table sees it.
const ALIVE: &str = "expiresAt > :now AND tries < :most AND (attribute_not_exists(networks.#network) OR networks.#network < :mostHere)";
