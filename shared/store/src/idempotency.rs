//! Idempotency keys: a repeated request with the same key gets the stored response
//! (<https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header>).

use std::time::Duration;

use data_encoding::HEXLOWER;
use domain::Instant;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, Key},
    write::Write,
};

const RETENTION: Duration = Duration::from_secs(86_400);

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

#[derive(Deserialize)]
struct AnsweredRequest {
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
            .when("attribute_not_exists(exp) OR exp <= :now")
            .expression("SET body = :body, answer = :answer, exp = :exp, #ttl = :ttl")
            .expiring(end)
            .text(":body", &request.body)
            .text(":answer", response)
            .number(":exp", end.unix_milliseconds())
            .number(":now", now.unix_milliseconds());
        self.update(Part::Idempotency, update);
    }
}

impl Store {
    /// The request that was answered under the same key within the last day.
    pub async fn earlier(
        &self,
        request: &Idempotent,
        now: Instant,
    ) -> Result<Option<Earlier>, StoreError> {
        let answered: Option<AnsweredRequest> = self.get(&request.key).await?;
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
