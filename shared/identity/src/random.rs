//! Random bytes and identifiers from the operating system's generator.

use domain::Instant;
use uuid::{Builder, Uuid};

/// `N` cryptographically secure random bytes.
///
/// # Panics
/// If the operating system provides no randomness.
#[expect(clippy::expect_used, reason = "nothing is secure without randomness")]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system provides randomness");
    bytes
}

/// A new UUID v7: 48 bits of `now` and 74 random bits (RFC 9562 §5.7).
pub fn id(now: Instant) -> Uuid {
    let milliseconds = u64::try_from(now.unix_milliseconds()).unwrap_or(0);
    Builder::from_unix_timestamp_millis(milliseconds, &bytes()).into_uuid()
}
