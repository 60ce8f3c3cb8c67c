//! One-time codes: at most one of each kind per challenge.

use domain::{
    Instant,
    code::{Challenge, Code, CodeKind, MAX_TRIES, MAX_TRIES_PER_NETWORK},
};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, PENDING_CODE_PREFIX, Table},
    table::ttl,
    write::Write,
};

/// Codes that [`Store::pending_codes`] returns at most.
const MAX_PENDING: u16 = 10;

impl Store {
    /// The code of `kind` for `challenge`, valid or not.
    pub async fn code(
        &self,
        kind: CodeKind,
        challenge: Challenge,
    ) -> Result<Option<Code>, StoreError> {
        self.get(&keys::code(kind, challenge)).await
    }

    /// The codes, valid or not, of the ten newest accounts that want the pending address of `challenge`.
    pub async fn pending_codes(&self, challenge: Challenge) -> Result<Vec<Code>, StoreError> {
        let pk = keys::code(CodeKind::Email, challenge).pk;
        let page: Page<Code> = self
            .newest(
                Table::Transient,
                &pk,
                PENDING_CODE_PREFIX,
                None,
                MAX_PENDING,
            )
            .await?;
        Ok(page.items)
    }

    /// Counts a failed attempt from `network` at the code of `kind` for `challenge`, in the totals per network and
    /// for all networks. Does nothing when there is no valid code.
    pub async fn count_failed_attempt(
        &self,
        kind: CodeKind,
        challenge: Challenge,
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
    pub fn put_code(&mut self, kind: CodeKind, challenge: Challenge, code: &Code) {
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
        challenge: Challenge,
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
