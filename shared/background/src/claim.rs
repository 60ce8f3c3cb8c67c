//! Claims of messages. A sweep keeps a message from other sweeps while the message waits for its send time, and a process
//! claims it before it sends it. If the process ends before the claim, another process sends the message; if it ends after
//! the claim, the message becomes UNKNOWN.

use domain::{
    Instant,
    times::{KEPT_FROM_SWEEPS, MESSAGE_RETRY, STORE_PAUSE, TEXT_LIFE},
};
use runtime::Error;
use store::{Counter, Due, Outbound, StoreError};
use tokio::time::sleep;

use crate::{MessageSender, outcome::UNKNOWN};

/// The claim on a message: only its holder may send the message, once.
#[derive(Debug)]
pub struct Claim {
    /// The number of attempts including this one.
    pub attempts: u32,
    pub(crate) what: Outbound,
    pub(crate) expires_at: Instant,
}

impl MessageSender {
    /// Keeps the message of `due` from other sweeps; `None` when that is not possible. A message whose claim has expired ends
    /// as `UNKNOWN`, one that cannot be read is postponed.
    pub(crate) async fn keep_from_sweeps(&self, due: &Due) -> Option<Due> {
        let (now, what) = (self.clock.now(), Outbound::of(&due.pk)?);
        let kept = async {
            let kept = self.store.keep_from_sweeps(due, now.after(KEPT_FROM_SWEEPS)).await?;
            if kept.is_none() && self.store.expire_claim(what, now).await? {
                tracing::warn!(%what, metric = UNKNOWN, "the claim of a message expired: its delivery is unknown");
            }
            Ok::<_, StoreError>(kept)
        };
        match kept.await {
            Ok(kept) => kept,
            Err(failure) => {
                if matches!(failure, StoreError::Unexpected(_)) {
                    tracing::error!(%failure, %what, "keeping a message from sweeps failed");
                    // No retry will remove it, and the message would stay the first of its list.
                    self.postpone(due, &failure.into()).await;
                } else {
                    tracing::warn!(%failure, %what, "keeping a message from sweeps failed");
                }
                // The store may be throttling.
                sleep(STORE_PAUSE).await;
                None
            }
        }
    }

    /// Postpones the message of `due`, whose delivery failed with `failure`.
    pub(crate) async fn postpone(&self, due: &Due, failure: &Error) {
        self.due.postpone(due, failure, MESSAGE_RETRY).await
    }

    /// Claims the message `what`, which is retried until `expires_at`, or for a day after its first attempt (`None`).
    /// Returns `None` when another process has claimed or sent it.
    pub async fn claim(
        &self,
        what: Outbound,
        expires_at: Option<Instant>,
    ) -> Result<Option<Claim>, StoreError> {
        let now = self.clock.now();
        let claimed = self.store.claim(what, now.after(self.claim), now).await?;
        Ok(claimed.map(|claimed| Claim {
            attempts: claimed.attempts,
            what,
            expires_at: expires_at.unwrap_or_else(|| claimed.tried_at.after(TEXT_LIFE)),
        }))
    }

    /// Counts the message of `claim` by `limit` in its first attempt: later ones send the same message, which the carrier
    /// refused or the stream delivered again. Returns how many more are allowed; `None` if this one is not.
    pub async fn count(
        &self,
        limit: Option<&Counter>,
        claim: &Claim,
    ) -> Result<Option<u64>, StoreError> {
        let Some(counter) = limit.filter(|_| claim.attempts == 1) else {
            return Ok(Some(u64::MAX));
        };
        let (_, count) = self.store.count_one(counter, self.clock.now()).await?;
        let left = counter.max.checked_sub(count);
        if left.is_none() {
            tracing::warn!(metric = counter.name, "a limit of messages is reached");
        }
        Ok(left)
    }
}
