//! What `POST /sms/single` and `POST /sms/bulk` share: daily quotas, and messages that are accepted once.

use std::time::Duration;

use common::{ApiError, ApiResponse, ApiResult, ErrorCode, Idempotency, Message, success};
use domain::{Instant, user::User};
use serde::{Serialize, de::DeserializeOwned};
use store::{CommitOutcome, StoreError, Transaction};
use tokio::time::sleep;

use crate::Messages;

/// How often, and after how long, a request that meets a full quota looks for the response to one with the same key, which
/// may be counted in the quota and not accepted yet.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// A request to send messages.
pub(crate) struct Submission<'a> {
    pub(crate) sender: &'a User,
    pub(crate) key: &'a Idempotency,
    /// The message of a successful response.
    pub(crate) message: Message,
    pub(crate) now: Instant,
}

impl Submission<'_> {
    /// The response to an earlier request with the same key.
    ///
    /// # Errors
    /// As [`Idempotency::earlier`].
    pub(crate) async fn earlier<T: DeserializeOwned>(
        &self,
        messages: &Messages,
    ) -> Result<Option<ApiResponse<T>>, ApiError> {
        self.key.earlier(&messages.store, self.message, self.now).await
    }

    /// Counts `count` messages in the daily quotas and commits `tx`, which writes them, together with the stored
    /// `response`. If the commit fails, `was_accepted` reads whether it took effect nevertheless.
    ///
    /// # Errors
    /// As [`Idempotency::earlier`]; `SMS_QUOTA_EXCEEDED_MESSAGE` when a quota would be exceeded, also by a request with the same
    /// key that takes longer than a second. Nothing was written then.
    pub(crate) async fn accept<T: Serialize + DeserializeOwned>(
        &self,
        messages: &Messages,
        mut tx: Transaction,
        count: u64,
        response: T,
        was_accepted: impl Future<Output = Result<bool, StoreError>>,
    ) -> ApiResult<T> {
        self.key.store_in(&mut tx, &response, self.now)?;
        let Err(error) = self.count_and_commit(messages, tx, count, was_accepted).await else {
            return success(self.message, response);
        };
        // Another request with the key may have been accepted meanwhile, or is accepted soon.
        let mut earlier = self.earlier(messages).await?;
        let may_be_counted = self.key.is_given() && error.code() == ErrorCode::SmsQuotaExceeded;
        let looks = if may_be_counted { LOOKS } else { 0 };
        for _ in 0..looks {
            if earlier.is_none() {
                sleep(PAUSE).await;
                earlier = self.earlier(messages).await?;
            }
        }
        earlier.ok_or(error)
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
