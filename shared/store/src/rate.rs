//! How often a carrier is asked, over all processes together: each request takes a slot, and slots are so far
//! apart that there is never more than one in its share of a second.

use std::time::Duration;

use domain::Instant;
use serde::Deserialize;

use crate::{Store, StoreError, keys, write::Write};

/// Nobody waits so long for a slot. A row that goes further began in a process whose clock is ahead, and begins anew: the
/// rate may double until the clocks agree, but no message waits until they do.
const TOO_FAR: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "nextAt")]
    next_at: i64,
}

impl Store {
    /// Takes the next free slot of `per_second` ones, if it begins within `patience` of `now`: when it begins.
    /// None is given twice, and none is kept for later: who comes after a pause begins a new row of them.
    ///
    /// # Errors
    /// When the store is out of reach: then a slot may have been lost.
    pub async fn take_slot(
        &self,
        per_second: u64,
        patience: Duration,
        now: Instant,
    ) -> Result<Option<Instant>, StoreError> {
        // In microseconds, for a share of a second is seldom a whole number of milliseconds.
        let share = 1_000_000_i64
            .checked_div(i64::try_from(per_second).unwrap_or(i64::MAX))
            .unwrap_or(1_000_000)
            .max(1);
        let (present, latest) = (
            now.unix_milliseconds() * 1000,
            now.after(patience).unix_milliseconds() * 1000,
        );
        let too_far = now.after(patience + TOO_FAR).unix_milliseconds() * 1000;
        let behind = Write::at(&keys::rate())
            .when("nextAt > :now AND nextAt <= :latest")
            .expression("SET nextAt = nextAt + :share")
            .number(":now", present)
            .number(":latest", latest)
            .number(":share", share);
        let first = Write::at(&keys::rate())
            .when("attribute_not_exists(nextAt) OR nextAt <= :now OR nextAt > :tooFar")
            .expression("SET nextAt = :next")
            .number(":now", present)
            .number(":tooFar", too_far)
            .number(":next", present + share);
        // Between the first two somebody else may have begun the row.
        for update in [behind.clone(), first, behind] {
            if let Some(Line { next_at }) = self.update_item(update).await? {
                // Never earlier than it is.
                return Ok(Some(Instant::from_unix_milliseconds(
                    (next_at - share + 999).div_euclid(1000),
                )));
            }
        }
        Ok(None)
    }
}
