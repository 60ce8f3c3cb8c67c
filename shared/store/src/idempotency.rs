//! Answers that are given again to whoever asks again with the same key
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

/// How long an answer is given again.
const KEPT: Duration = Duration::from_secs(86_400);

/// A request that has the same effect however often it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotent {
    key: Key,
    body: String,
}

/// What a request that was made before was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Earlier {
    /// The same request: its answer.
    Same(String),
    /// Another one.
    Other,
}

#[derive(Serialize, Deserialize)]
struct Answered {
    body: String,
    answer: String,
    exp: i64,
}

impl Idempotent {
    /// The request of `user` to `route` under `key` with `body`, byte for byte.
    pub fn new(user: UserId, route: &str, key: &str, body: &[u8]) -> Self {
        Self {
            key: keys::idempotency(&format!("{user} {route} {key}")),
            body: HEXLOWER.encode(&Sha256::digest(body)),
        }
    }
}

impl Transaction {
    /// `request` is answered with `answer`, today and for a day; refused as [`Part::Idempotency`] when it was
    /// answered already.
    pub fn answer_once(&mut self, request: &Idempotent, answer: String, now: Instant) {
        let Idempotent { key, body } = request;
        let end = now.after(KEPT);
        let answered = Answered {
            body: body.clone(),
            answer,
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
    /// What was answered under the key of `request`, if anything was in the last day.
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
