//! Idempotency keys: a repeated request with the same key gets the stored response
//! (<https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header>).

use std::time::Duration;

use data_encoding::HEXLOWER;
use domain::Instant;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, Key, SWEEP_DELAY},
    retry::{Retries, random_bytes},
    write::Write,
};

const RETENTION: Duration = Duration::from_secs(86_400);

/// How long a request holds its key: a little longer than it is retried.
const HOLD: Duration = Duration::from_secs(6);

const UNANSWERED: &str = "attribute_not_exists(exp) OR exp <= :now";

/// A request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotent {
    key: Key,
    body: String,
}

/// An earlier request with the same idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// Its body was the same: what was stored of its response.
    Same(String),
    /// Its body was different.
    Other,
}

/// A request that holds its idempotency key: it alone may be answered under it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "it is to be released when the request is not answered"]
pub struct Held<'a> {
    request: &'a Idempotent,
    holder: String,
}

/// A key that is only held has none of these attributes.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answered {
    body: String,
    answer: String,
    exp: i64,
}

impl Idempotent {
    /// The request of `caller`, a user or a network, to `route` with the idempotency key `key`. Bodies are compared byte
    /// for byte.
    pub fn new(caller: &str, route: &str, key: &str, body: &[u8]) -> Self {
        Self {
            key: keys::idempotency(&format!("{caller} {route} {key}")),
            body: HEXLOWER.encode(&Sha256::digest(body)),
        }
    }

    /// Compares `digest` beside the body.
    #[must_use]
    pub fn and(self, digest: &str) -> Self {
        Self { body: format!("{} {digest}", self.body), ..self }
    }
}

impl Transaction {
    /// Stores `response` for a day. The condition fails ([`Part::Idempotency`]) when another request was answered under
    /// the same key.
    pub fn put_idempotent_response(&mut self, request: &Idempotent, response: &str, now: Instant) {
        let end = now.after(RETENTION);
        let update = Write::at(&request.key)
            .when(UNANSWERED)
            .expression("SET body = :body, answer = :answer, exp = :exp, #ttl = :ttl REMOVE heldBy, heldUntil")
            .expiring(end)
            .text(":body", &request.body)
            .text(":answer", response)
            .number(":exp", end.unix_milliseconds())
            .number(":now", now.unix_milliseconds());
        self.update(Part::Idempotency, update);
    }
}

impl Store {
    /// Holds the key of `request` for a few seconds, so that a concurrent repetition is not counted in the quotas
    /// beside it, but waits for its response. Returns that response as the inner error. The hold of a process that has
    /// ended ends by itself.
    ///
    /// # Errors
    /// [`StoreError::TransactionConflict`] when another request holds the key until the deadline.
    pub async fn hold<'a>(
        &self,
        request: &'a Idempotent,
        now: Instant,
    ) -> Result<Result<Held<'a>, Earlier>, StoreError> {
        let holder = HEXLOWER.encode(&random_bytes::<16>()?);
        let end = now.after(HOLD);
        let update = Write::at(&request.key)
            .when(format!(
                "({UNANSWERED}) \
                 AND (attribute_not_exists(heldBy) OR heldBy = :holder OR heldUntil <= :now)"
            ))
            .expression("SET heldBy = :holder, heldUntil = :end, #ttl = :ttl")
            .expiring(end.after(SWEEP_DELAY))
            .number(":now", now.unix_milliseconds())
            .text(":holder", &holder)
            .number(":end", end.unix_milliseconds());
        let mut retries = Retries::new();
        loop {
            // A lost response is no problem: the condition holds again for the same holder.
            let error = match self.apply(update.clone()).await {
                Ok(true) => return Ok(Ok(Held { request, holder })),
                Ok(false) => match self.earlier(request, now).await? {
                    Some(earlier) => return Ok(Err(earlier)),
                    None => StoreError::TransactionConflict,
                },
                Err(error) => error,
            };
            retries.pause(error).await?;
        }
    }

    /// Releases the key of a request that is not answered. After an error the hold ends by itself.
    pub async fn release_key(&self, held: Held<'_>) -> Result<(), StoreError> {
        let update = Write::at(&held.request.key)
            .when("heldBy = :holder")
            .expression("REMOVE heldBy, heldUntil")
            .text(":holder", &held.holder);
        self.apply(update).await.map(drop)
    }

    /// The request that was answered under the same key within the last day.
    pub async fn earlier(
        &self,
        request: &Idempotent,
        now: Instant,
    ) -> Result<Option<Earlier>, StoreError> {
        let answered: Option<Answered> = self.get(&request.key).await?;
        let answered = answered.filter(|answered| now.unix_milliseconds() < answered.exp);
        Ok(answered.map(|answered| {
            if answered.body == request.body {
                Earlier::Same(answered.answer)
            } else {
                Earlier::Other
            }
        }))
    }
}
