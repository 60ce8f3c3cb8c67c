//! Idempotency keys: a repeated request with the same key gets the stored response
//! (<https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header>).

use std::time::Duration;

use data_encoding::HEXLOWER;
use domain::{Instant, UserId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, Key},
    table::ttl,
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
    /// Its body was the same: the stored response.
    Same(String),
    /// Its body was different.
    Other,
}

#[derive(Serialize, Deserialize)]
struct Answered {
    body: String,
    answer: String,
    exp: i64,
}

impl Idempotent {
    /// The request of `user` to `route` with the idempotency key `key`. Bodies are compared byte for byte.
    pub fn new(user: UserId, route: &str, key: &str, body: &[u8]) -> Self {
        Self {
            key: keys::idempotency(&format!("{user} {route} {key}")),
            body: HEXLOWER.encode(&Sha256::digest(body)),
        }
    }
}

impl Transaction {
    /// Stores `response` for a day. The condition fails ([`Part::Idempotency`]) when a response is stored already.
    pub fn put_idempotent_response(
        &mut self,
        request: &Idempotent,
        response: String,
        now: Instant,
    ) {
        let Idempotent { key, body } = request;
        let end = now.after(RETENTION);
        let answered = Answered {
            body: body.clone(),
            answer: response,
            exp: end.unix_milliseconds(),
        };
        let put = key
            .holding(&answered)
            .with([ttl(end)])
            .when("attribute_not_exists(pk) OR exp <= :now")
            .number(":now", now.unix_milliseconds());
        self.put(Part::Idempotency, put);
    }
}

impl Store {
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
