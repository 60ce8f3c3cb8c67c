//! The outcome of one attempt to send a message, and how it is recorded.

use std::time::Duration;

use domain::{
    Instant,
    outbox::State,
    sms::Cause,
    times::{FIRST_RETRY, LONGEST_RETRY, RECORD_ATTEMPTS, RECORD_PAUSE},
};
use messaging::SendError;
use runtime::Error;
use store::{Outbound, StoreError};
use tokio::time::sleep;

use crate::{Claim, MessageSender, rate::random_fraction};

/// The metric of messages whose delivery is unknown.
pub(crate) const UNKNOWN: &str = "UnknownMessages";

/// The outcome of one attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The carrier accepted it, or there was nothing to send.
    Sent,
    /// It will never be accepted: the cause that its sender sees, of a text message, and the reason in the log.
    Failed(Option<Cause>, String),
    /// It was not accepted; a retry may succeed.
    NotSent(String),
    /// It was sent, but there was no response.
    Unknown(String),
}

impl SendOutcome {
    /// The message has expired.
    pub fn expired() -> Self {
        Self::failed(Cause::Expired, "the message has expired")
    }

    /// A notification is not sent, for `reason`.
    pub fn not_notified(reason: &str) -> Self {
        Self::Failed(None, reason.to_owned())
    }

    pub(crate) fn failed(cause: Cause, reason: &str) -> Self {
        Self::Failed(Some(cause), reason.to_owned())
    }
}

impl From<Result<(), SendError>> for SendOutcome {
    fn from(sent: Result<(), SendError>) -> Self {
        match sent {
            Ok(()) => Self::Sent,
            Err(SendError::Rejected(reason)) => Self::Failed(Some(Cause::CarrierRefused), reason),
            Err(SendError::OptedOut) => Self::failed(Cause::OptedOut, "opted out at the carrier"),
            Err(SendError::NotSent(cause)) => Self::NotSent(cause),
            Err(SendError::Unknown(cause)) => Self::Unknown(cause),
        }
    }
}

impl MessageSender {
    /// Records the `outcome` of the message of `claim`. A message that was not sent is queued again until it expires.
    pub async fn record_outcome(&self, claim: Claim, outcome: SendOutcome) -> Result<(), Error> {
        let Claim { attempts, what, expires_at } = claim;
        let next = self.clock.now().after(delay(attempts));
        let (state, failure) = match outcome {
            SendOutcome::Sent => (State::Sent, None),
            SendOutcome::Failed(cause, reason) => {
                // Its sender sees the cause; there is nothing for an operator to do.
                tracing::info!(%what, cause = reason, "a message failed permanently");
                (State::Failed, cause)
            }
            SendOutcome::Unknown(cause) => {
                tracing::warn!(%what, cause, metric = UNKNOWN, "the delivery of a message is unknown");
                (State::Unknown, None)
            }
            SendOutcome::NotSent(cause) => {
                tracing::warn!(%what, cause, attempts, "a message was not sent");
                if next < expires_at {
                    (State::Queued, None)
                } else {
                    (State::Failed, Some(Cause::Expired))
                }
            }
        };
        let record = || async move {
            let (store, now) = (&self.store, self.clock.now());
            match state {
                State::Queued => store.requeue(what, attempts, next, now).await,
                state => store.record_outcome(what, attempts, state, failure, now).await,
            }
        };
        Ok(retried(what, record).await?)
    }

    /// Records `outcome` of the message `what` without sending it.
    pub async fn skip(
        &self,
        what: Outbound,
        expires_at: Option<Instant>,
        outcome: SendOutcome,
    ) -> Result<(), Error> {
        match self.claim(what, expires_at).await? {
            Some(claim) => self.record_outcome(claim, outcome).await,
            None => Ok(()),
        }
    }

    /// Records that the carrier gave the message `what` the id `message_id`, by which its receipt finds it.
    pub(crate) async fn record_message_id(&self, message_id: &str, what: Outbound) {
        let record = || self.store.record_message_id(message_id, what, self.clock.now());
        if let Err(failure) = retried(what, record).await {
            tracing::warn!(%what, %failure, "the receipt of a message will not be found");
        }
    }
}

/// Repeats `record`, which records what became of `what`, so that a short failure of the store does not lose it.
async fn retried<F>(what: Outbound, record: impl Fn() -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut attempt = 1;
    loop {
        match record().await {
            Err(error) if attempt < RECORD_ATTEMPTS => {
                tracing::warn!(%what, failure = %error, "recording the outcome of a message failed");
                sleep(RECORD_PAUSE * 2_u32.pow(attempt - 1)).await;
                attempt += 1;
            }
            recorded => return recorded,
        }
    }
}

/// Exponential backoff with full jitter, 1 second at least and [`LONGEST_RETRY`] at most
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
fn delay(attempts: u32) -> Duration {
    let factor = 2_u32.saturating_pow(attempts.saturating_sub(1));
    let longest = FIRST_RETRY.saturating_mul(factor).min(LONGEST_RETRY);
    longest.mul_f64(random_fraction()).max(Duration::from_secs(1))
}
