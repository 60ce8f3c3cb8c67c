//! One-time codes: at most one of each kind per challenge. A challenge is derived from an e-mail address, or from a
//! user's id and phone number.

use domain::{
    Instant,
    code::{Code, CodeKind, MAX_TRIES, MAX_TRIES_PER_NETWORK},
};
use uuid::Uuid;

use crate::{Part, Store, StoreError, Transaction, keys, table::ttl, write::Write};

impl Store {
    /// The code of `kind` for `challenge`, valid or not.
    pub async fn code(&self, kind: CodeKind, challenge: Uuid) -> Result<Option<Code>, StoreError> {
        self.get(&keys::code(kind, challenge)).await
    }

    /// Counts a failed attempt from `network` at the code of `kind` for `challenge`, in the totals per network and
    /// for all networks. Does nothing when there is no valid code.
    pub async fn count_failed_attempt(
        &self,
        kind: CodeKind,
        challenge: Uuid,
        network: &str,
        now: Instant,
    ) -> Result<(), StoreError> {
        let key = keys::code(kind, challenge);
        let counted = Write::at(&key)
            .when(VALID)
            .expression("SET networks.#network = if_not_exists(networks.#network, :zero) + :one ADD tries :one")
            .name("#network", network)
            .value(":now", &now)
            .number(":most", MAX_TRIES)
            .number(":mostHere", MAX_TRIES_PER_NETWORK)
            .number(":zero", 0)
            .number(":one", 1);
        self.apply(counted).await?;
        Ok(())
    }
}

impl Transaction {
    /// Stores `code`; it replaces an earlier one of the same kind for `challenge`.
    pub fn put_code(&mut self, kind: CodeKind, challenge: Uuid, code: &Code) {
        let put = keys::code(kind, challenge)
            .holding(code)
            .with([ttl(code.expires_at)]);
        self.put(Part::Code, put);
    }

    /// Uses up `code`. The condition fails (`Part::Code`) when it was used or replaced, or is not valid for
    /// `network` at `now`; of several concurrent uses exactly one succeeds.
    pub fn use_code(
        &mut self,
        kind: CodeKind,
        challenge: Uuid,
        code: &Code,
        network: &str,
        now: Instant,
    ) {
        let key = keys::code(kind, challenge);
        let used = Write::at(&key)
            .when(format!("link = :link AND {VALID}"))
            .name("#network", network)
            .text(":link", &code.link)
            .value(":now", &now)
            .number(":most", MAX_TRIES)
            .number(":mostHere", MAX_TRIES_PER_NETWORK);
        self.delete(Part::Code, used);
    }
}

/// The condition of [`Code::is_valid`].
const VALID: &str = "expiresAt > :now AND tries < :most AND (attribute_not_exists(networks.#network) OR networks.#network < :mostHere)";
