//! How often, and after which pause, a request to the tables is tried again.

use std::time::Duration;

use crate::StoreError;

/// Tries of a transaction, and of a single write that met a transaction.
pub(crate) const TRIES: u32 = 5;

/// Full jitter over a doubling pause
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
pub(crate) fn pause(tries: u32) -> Result<Duration, StoreError> {
    let [random] = random_bytes::<1>()?;
    Ok(Duration::from_micros(
        u64::from(random) * 80 * 2_u64.pow(tries),
    ))
}

/// `N` bytes from the operating system.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Unexpected(error.to_string()))?;
    Ok(bytes)
}
