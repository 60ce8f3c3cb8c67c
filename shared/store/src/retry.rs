//! Limits and delays of retries.

use std::time::Duration;

use crate::StoreError;

/// Maximum number of attempts: of a transaction, a batch read, and a write that conflicts with a transaction.
pub(crate) const ATTEMPTS: u32 = 5;

/// The delay after attempt number `attempt`: exponential backoff with full jitter, at most 20.4 ms times
/// 2^`attempt` (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
pub(crate) fn pause(attempt: u32) -> Result<Duration, StoreError> {
    let [random] = random_bytes::<1>()?;
    Ok(Duration::from_micros(
        u64::from(random) * 80 * 2_u64.pow(attempt),
    ))
}

/// Random bytes from the operating system.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Unexpected(error.to_string()))?;
    Ok(bytes)
}
