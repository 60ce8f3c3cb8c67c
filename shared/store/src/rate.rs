//! The sending rate of text messages, shared by all processes: each message takes a slot, and slots are evenly spaced.

use std::time::Duration;

use domain::Instant;
use serde::Deserialize;

use crate::{Store, StoreError, keys, write::Write};

/// A next slot later than this after the longest wait was written by a process whose clock is ahead. The sequence
/// then starts again at `now`: the rate may double until the clocks agree, but messages are not delayed.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct NextSlot {
    #[serde(rename = "nextAt")]
    next_at: i64,
}

impl Store {
    /// Takes the next free of `per_second` slots and returns its start; `None` when that is later than `max_wait`
    /// after `now`. No slot is given twice, and unused slots are not saved up. After an error a slot may be lost.
    pub async fn take_slot(
        &self,
        per_second: u64,
        max_wait: Duration,
        now: Instant,
    ) -> Result<Option<Instant>, StoreError> {
        // In microseconds, because the interval is seldom a whole number of milliseconds.
        let interval = 1_000_000_i64
            .checked_div(i64::try_from(per_second).unwrap_or(i64::MAX))
            .unwrap_or(1_000_000)
            .max(1);
        let (present, latest) = (
            now.unix_milliseconds() * 1000,
            now.after(max_wait).unix_milliseconds() * 1000,
        );
        let too_far = now.after(max_wait + MAX_CLOCK_SKEW).unix_milliseconds() * 1000;
        let next = Write::at(&keys::rate())
            .when("nextAt > :now AND nextAt <= :latest")
            .expression("SET nextAt = nextAt + :share")
            .number(":now", present)
            .number(":latest", latest)
            .number(":share", interval);
        let restart = Write::at(&keys::rate())
            .when("attribute_not_exists(nextAt) OR nextAt <= :now OR nextAt > :tooFar")
            .expression("SET nextAt = :next")
            .number(":now", present)
            .number(":tooFar", too_far)
            .number(":next", present + interval);
        // Another process may start the sequence between the first two attempts.
        for update in [next.clone(), restart, next] {
            if let Some(NextSlot { next_at }) = self.update_item(update).await? {
                // Rounded up, so that the message is not sent too early.
                return Ok(Some(Instant::from_unix_milliseconds(
                    (next_at - interval + 999).div_euclid(1000),
                )));
            }
        }
        Ok(None)
    }
}
