//! What accepting one message and accepting many have in common: it happens once, however often it is asked
//! for, and it is counted.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use common::{Failure, Message, Refusal, Refused, Reply, told};
use domain::{Flaw, Instant, UserId};
use http::request::Parts;
use serde::{Serialize, de::DeserializeOwned};
use store::{Earlier, Fault, Idempotent, Outcome, Part, Transaction};

use crate::Messages;

/// The header that names a request, so that it may be made again.
const HEADER: &str = "Idempotency-Key";

/// What stands in the header `Idempotency-Key`, not looked at yet, for a body that is too long is told first.
#[derive(Debug, Clone)]
pub(crate) struct IdempotencyKey(Result<Option<String>, Flaw>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let values: Vec<_> = parts
            .headers
            .get_all(HEADER)
            .iter()
            .map(http::HeaderValue::as_bytes)
            .collect();
        Ok(Self(match values.as_slice() {
            [] => Ok(None),
            [b""] => Err(Flaw::Required),
            [value] if value.len() > 255 => Err(Flaw::Length),
            [value] if value.iter().all(u8::is_ascii_graphic) => {
                Ok(Some(String::from_utf8_lossy(value).into_owned()))
            }
            _ => Err(Flaw::Format),
        }))
    }
}

impl IdempotencyKey {
    /// The request of `user` to `route` with `body`, if it is to be made once.
    ///
    /// # Errors
    /// A bad key, as a bad field.
    pub(crate) fn request(
        self,
        user: UserId,
        route: &str,
        body: &[u8],
    ) -> Result<Option<Idempotent>, Refused> {
        let key = self.0.map_err(|flaw| Refused::field(HEADER, flaw))?;
        Ok(key.map(|key| Idempotent::new(user, route, &key, body)))
    }
}

impl Messages {
    /// The reply that `request` got before, if it did.
    ///
    /// # Errors
    /// `IDEMPOTENCY_KEY_REUSED_MESSAGE` when another request had its key.
    pub(crate) async fn replay<T: DeserializeOwned>(
        &self,
        request: Option<&Idempotent>,
        message: Message,
        now: Instant,
    ) -> Result<Option<Reply<T>>, Failure> {
        let Some(request) = request else {
            return Ok(None);
        };
        match self.store.earlier(request, now).await? {
            None => Ok(None),
            Some(Earlier::Same(answer)) => {
                let answer = serde_json::from_str(&answer)?;
                Ok(Some(told(message, answer).map(common::Told::replayed)))
            }
            Some(Earlier::Other) => Err(Refusal::IdempotencyKeyReused.into()),
        }
    }

    /// Has `accept` be done with `answer`, or gives the reply that a twin got a moment ago. Where nobody heard
    /// whether it was done, `is_kept` looks.
    ///
    /// # Errors
    /// As [`replay`](Self::replay), and `SMS_QUOTA_EXCEEDED_MESSAGE`: then nothing was done.
    pub(crate) async fn settle<T: Serialize + DeserializeOwned>(
        &self,
        accept: Transaction,
        request: Option<&Idempotent>,
        message: Message,
        answer: T,
        is_kept: impl Future<Output = Result<bool, Fault>>,
        now: Instant,
    ) -> Reply<T> {
        let refused: Failure = match accept.commit().await {
            Ok(Outcome::Done) => return told(message, answer),
            Ok(Outcome::Refused(Part::Quota)) => {
                Refused::after(Refusal::SmsQuotaExceeded, now.end_of_day().since(now)).into()
            }
            Ok(Outcome::Refused(_)) => Fault::Conflict.into(),
            Err(fault) if is_kept.await? => {
                tracing::warn!(%fault, "what was accepted was kept, though nobody heard it");
                return told(message, answer);
            }
            Err(fault) => fault.into(),
        };
        // A twin may have been faster.
        self.replay(request, message, now)
            .await?
            .unwrap_or(Err(refused))
    }
}
