//! Retries within the deadline of a request.

use std::{future::Future, time::Duration};

use aws_sdk_dynamodb::types::CancellationReason;
use tokio::time::{Instant, sleep, timeout};

use crate::StoreError;

/// Time limit of the retries outside [`with_deadline`].
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// Attempts of a request that is throttled or gets no answer: more would add to the load.
const ATTEMPTS: u32 = 5;
/// Such a request is not retried once this much time has passed.
const MAX_RETRY_TIME: Duration = Duration::from_millis(1500);

/// The backoff stops growing after this number of attempts.
const MAX_BACKOFF: u32 = 4;

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs `work` with a deadline for its requests: they are not retried once `time` has passed.
pub async fn with_deadline<T>(time: Duration, work: impl Future<Output = T>) -> T {
    DEADLINE.scope(Instant::now() + time, work).await
}

/// Runs `work`, such as an export, with `time` of its own, which its requests may use instead of that of the request.
///
/// # Errors
/// Those of `work`; [`StoreError::Unavailable`] when it takes longer.
pub async fn with_time_limit<T, E: From<StoreError>>(
    time: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let done = timeout(time, with_deadline(time, work)).await;
    done.unwrap_or_else(|_| {
        let cause = format!("the work took longer than {time:?}");
        Err(StoreError::Unavailable(cause).into())
    })
}

/// The retries of one operation. Those of an operation inside another one share its deadline, so that nesting does not
/// multiply their time.
pub(crate) struct Retries {
    start: Instant,
    deadline: Instant,
    count: u32,
}

impl Retries {
    pub(crate) fn new() -> Self {
        let start = Instant::now();
        let deadline = DEADLINE.try_with(|deadline| *deadline).unwrap_or(start + DEFAULT_TIME);
        Self { start, deadline, count: 0 }
    }

    /// The last attempt did a part of the operation: it is none of those that failed.
    pub(crate) fn progressed(&mut self) {
        self.start = Instant::now();
        self.count = 0;
    }

    /// Waits before the next attempt after `error`, or returns it when it is final or the time is up. Conflicts of
    /// transactions are retried until the deadline, throttling and missing answers a few times.
    pub(crate) async fn pause(&mut self, error: StoreError) -> Result<(), StoreError> {
        self.count += 1;
        let may_retry = match error {
            StoreError::TransactionConflict => true,
            StoreError::Throttled | StoreError::HotKey | StoreError::Unavailable(_) => {
                self.count < ATTEMPTS && self.start.elapsed() <= MAX_RETRY_TIME
            }
            StoreError::Full { .. } | StoreError::Unexpected(_) => false,
        };
        let pause = pause(self.count.min(MAX_BACKOFF))?;
        if !may_retry || Instant::now() + pause >= self.deadline {
            return Err(error);
        }
        sleep(pause).await;
        Ok(())
    }
}

/// The delay after attempt number `attempt`: exponential backoff with full jitter, at most 20.4 ms times
/// 2^`attempt` (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
fn pause(attempt: u32) -> Result<Duration, StoreError> {
    let [random] = random_bytes::<1>()?;
    Ok(Duration::from_micros(u64::from(random) * 80 * 2_u64.pow(attempt)))
}

/// Why a transaction was cancelled, if no condition failed. One response can have several reasons
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
pub(crate) fn cancellation(reasons: &[CancellationReason]) -> StoreError {
    let codes = || reasons.iter().filter_map(CancellationReason::code);
    if codes().any(|code| code == "TransactionConflict") {
        StoreError::TransactionConflict
    } else if codes()
        .any(|code| ["ThrottlingError", "ProvisionedThroughputExceeded"].contains(&code))
    {
        StoreError::Throttled
    } else {
        let codes: Vec<&str> = codes().collect();
        StoreError::Unexpected(format!("the transaction was cancelled: {codes:?}"))
    }
}

/// Random bytes from the operating system.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Unexpected(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_with_time_of_its_own_is_repeated_after_the_requests_time() {
        let read = async || Retries::new().pause(StoreError::Throttled).await;
        let own = Duration::from_secs(20);
        assert!(with_deadline(Duration::ZERO, read()).await.is_err());
        assert!(with_deadline(Duration::ZERO, with_time_limit(own, read())).await.is_ok());
        assert!(with_deadline(own, with_time_limit(Duration::ZERO, read())).await.is_err());
    }

    #[tokio::test]
    async fn attempts_that_progress_are_not_counted() {
        let mut retries = Retries::new();
        for _ in 0..2 * ATTEMPTS {
            retries.progressed();
            assert!(retries.pause(StoreError::Throttled).await.is_ok());
        }
        let mut repeated = 1;
        while retries.pause(StoreError::Throttled).await.is_ok() {
            repeated += 1;
        }
        assert_eq!(repeated, ATTEMPTS - 1);
    }
}
