//! What `POST /sms/single` and `POST /sms/bulk` share: idempotency keys and daily quotas.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use common::{ApiError, ApiResult, ErrorCode, InvalidValue, Message, success};
use domain::{Instant, Line, ValueError, user::User};
use http::request::Parts;
use serde::{Serialize, de::DeserializeOwned};
use store::{CommitOutcome, Earlier, Idempotent, StoreError, Transaction};

use crate::Messages;

/// <https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header>
const HEADER: &str = "Idempotency-Key";

/// The value of the header `Idempotency-Key`. Its error is kept until the body was read, so that a body that is too
/// large is reported first.
#[derive(Debug, Clone)]
pub(crate) struct IdempotencyKey(Result<Option<String>, ValueError>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let values: Vec<_> =
            parts.headers.get_all(HEADER).iter().map(http::HeaderValue::as_bytes).collect();
        Ok(Self(match values.as_slice() {
            [] => Ok(None),
            [b""] => Err(ValueError::Required),
            [value] if value.len() > 255 => Err(ValueError::Length),
            [value] if value.iter().all(u8::is_ascii_graphic) => {
                Ok(Some(String::from_utf8_lossy(value).into_owned()))
            }
            _ => Err(ValueError::Format),
        }))
    }
}

impl IdempotencyKey {
    /// The submission of `sender` to `route` with `body`; `message` is the message of a successful response.
    ///
    /// # Errors
    /// A field error of the header when the key is malformed.
    pub(crate) fn submission<'a>(
        self,
        sender: &'a User,
        route: &str,
        body: &[u8],
        message: Message,
        now: Instant,
    ) -> Result<Submission<'a>, ApiError> {
        let invalid = |error| ApiError::field(HEADER, InvalidValue::of::<Line<255>>(error));
        let key = self.0.map_err(invalid)?;
        Ok(Submission {
            sender,
            key: key.map(|key| Idempotent::new(sender.user_id, route, &key, body)),
            message,
            now,
        })
    }
}

/// A request to send messages; with an idempotency key it takes effect once.
pub(crate) struct Submission<'a> {
    pub(crate) sender: &'a User,
    key: Option<Idempotent>,
    message: Message,
    pub(crate) now: Instant,
}

impl Submission<'_> {
    /// The stored response to an earlier request with the same key, if there is one.
    ///
    /// # Errors
    /// `IDEMPOTENCY_KEY_REUSED_MESSAGE` when the earlier request had a different body.
    pub(crate) async fn earlier<T: DeserializeOwned>(
        &self,
        messages: &Messages,
    ) -> Result<Option<ApiResult<T>>, ApiError> {
        let Some(key) = &self.key else {
            return Ok(None);
        };
        let earlier = messages.store.earlier(key, self.now).await?;
        Ok(earlier.map(|earlier| self.replay(earlier)))
    }

    fn replay<T: DeserializeOwned>(&self, earlier: Earlier) -> ApiResult<T> {
        match earlier {
            Earlier::Same(response) => {
                let response = serde_json::from_str(&response)?;
                success(self.message, response).map(common::ApiResponse::replayed)
            }
            Earlier::Other => Err(ErrorCode::IdempotencyKeyReused.into()),
        }
    }

    /// Counts `count` messages in the daily quotas and commits `tx`, which writes them, together with the stored
    /// `response`. A concurrent request with the same key waits for that response. If the commit fails, `was_accepted`
    /// reads whether it took effect nevertheless.
    ///
    /// # Errors
    /// As [`earlier`](Self::earlier), for a concurrent request with the same key; `SMS_QUOTA_EXCEEDED_MESSAGE` when
    /// a quota would be exceeded. Nothing was written then.
    pub(crate) async fn accept<T: Serialize + DeserializeOwned>(
        &self,
        messages: &Messages,
        mut tx: Transaction,
        count: u64,
        response: T,
        was_accepted: impl Future<Output = Result<bool, StoreError>>,
    ) -> ApiResult<T> {
        let (store, now) = (&messages.store, self.now);
        let held = match &self.key {
            None => None,
            Some(key) => match store.hold(key, now).await? {
                Ok(held) => {
                    tx.put_idempotent_response(&held, serde_json::to_string(&response)?, now);
                    Some(held)
                }
                Err(earlier) => return self.replay(earlier),
            },
        };
        let accepted = self.count_and_commit(messages, tx, count, was_accepted);
        let Err(error) = accepted.await else {
            return success(self.message, response);
        };
        if let Some(held) = held
            && let Err(failure) = store.release_key(held).await
        {
            tracing::warn!(%failure, "an idempotency key was not released and is held for some seconds");
        }
        // Another request may have taken the key meanwhile, and been accepted.
        self.earlier(messages).await?.unwrap_or(Err(error))
    }

    async fn count_and_commit(
        &self,
        messages: &Messages,
        tx: Transaction,
        count: u64,
        was_accepted: impl Future<Output = Result<bool, StoreError>>,
    ) -> Result<(), ApiError> {
        let (store, quota, now) = (&messages.store, messages.quota, self.now);
        let (user, committee) = (self.sender.user_id, self.sender.committee_id);
        let Some(counted) = store.count_sms(user, committee, count, quota, now).await? else {
            let wait = now.end_of_day().since(now);
            return Err(ApiError::retry_after(ErrorCode::SmsQuotaExceeded, wait));
        };
        let error = match tx.commit().await {
            Ok(CommitOutcome::Committed) => return Ok(()),
            Ok(CommitOutcome::ConditionFailed(_)) => StoreError::TransactionConflict,
            Err(error) if was_accepted.await? => {
                tracing::warn!(%error, "the transaction failed without a response but took effect");
                return Ok(());
            }
            // It may still take effect, so the messages stay counted.
            Err(error @ StoreError::Unavailable(_)) => return Err(error.into()),
            Err(error) => error,
        };
        if let Err(failure) = store.release_sms(counted).await {
            tracing::warn!(%failure, "messages that were not accepted stay counted for the day");
        }
        Err(error.into())
    }
}
