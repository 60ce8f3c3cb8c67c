//! Chance, from the operating system.

use domain::Instant;
use uuid::{Builder, Uuid};

/// `N` bytes that nobody can guess.
///
/// # Panics
/// When the operating system has no chance to give: nothing safe can be done then.
#[expect(
    clippy::expect_used,
    reason = "without chance nothing safe can be done"
)]
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives chance");
    bytes
}

/// A new identifier: UUID v7, 48 bits of `now` and 74 of chance (RFC 9562 §5.7).
pub fn id(now: Instant) -> Uuid {
    let milliseconds = u64::try_from(now.unix_milliseconds()).unwrap_or(0);
    Builder::from_unix_timestamp_millis(milliseconds, &bytes()).into_uuid()
}
