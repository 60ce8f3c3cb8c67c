//! The order in which the messages of batches are sent. Committees that have messages waiting are served in turn,
//! however many each has: start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996), with a message as the unit.
//! Each message gets a turn in one order; the turns of a committee follow one another, beginning at the turn that is
//! being served.

use domain::{CommitteeId, Instant, times::TURN_RETENTION};
use serde::Deserialize;

use crate::{
    Due, Store, StoreError,
    keys::{self, DueList},
    write::Write,
};

#[derive(Deserialize)]
struct NextTurn {
    /// In milliseconds, as the due time of messages.
    #[serde(rename = "nextAt")]
    next_at: i64,
}

impl Store {
    /// Takes `count` consecutive turns for messages of `committee`, and returns the first. A turn is a due time in
    /// milliseconds, which only orders the messages: the rate decides when they are sent. After an error or a lost response
    /// some turns stay empty, which others move into.
    pub(crate) async fn take_turns(
        &self,
        committee: CommitteeId,
        count: usize,
        now: Instant,
    ) -> Result<Instant, StoreError> {
        // What is being served: the first message that waits. The index may be some milliseconds behind.
        let first = self.due(DueList::Bulk, Instant::MAX, 1).await?;
        let start = first.first().map_or(now.unix_milliseconds(), Due::milliseconds);
        let key = keys::next_turn(committee);
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let update = |condition: &str, next: &str| {
            Write::at(&key)
                .when(condition)
                .expression(format!("SET nextAt = {next}, #ttl = :ttl"))
                .expiring(now.after(TURN_RETENTION))
                .number(":start", start)
                .number(":count", count)
        };
        let next = update("nextAt > :start", "nextAt + :count");
        let restart = update("attribute_not_exists(nextAt) OR nextAt <= :start", ":start + :count");
        // Another process may take turns between the first two attempts.
        for update in [next.clone(), restart, next] {
            if let Some(NextTurn { next_at }) = self.update_item(update).await? {
                return Ok(Instant::from_unix_milliseconds(next_at - count));
            }
        }
        Err(StoreError::Unexpected("the next turn of a committee was deleted".to_owned()))
    }
}
