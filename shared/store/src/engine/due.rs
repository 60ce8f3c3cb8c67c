//! Pending work in the index `due`, its retries, and dead letters: work that failed for a day and needs an operator.

use std::time::Duration;

use domain::{
    Instant,
    times::{DEAD_AFTER, SERIES_GAP},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_dynamo::from_items;

use crate::{
    Store, StoreError,
    keys::{DUE, DueList, Key, Table},
    table::{number, text},
    write::Write,
};

/// Shards that are read at once: more would open a connection each, and a sweep reads several kinds at once.
const CONCURRENT_READS: usize = 4;

/// A piece of pending work: an item in the index `due`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Due {
    /// The partition key of the item.
    pub pk: String,
    sk: String,
    pub(crate) due_pk: String,
    due_at: i64,
    /// The id of the client's request that queued it; empty if none did.
    #[serde(default)]
    pub request_id: String,
}

/// A series of failures of one piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FailureSeries {
    since: Instant,
    /// When it is retried, in Unix milliseconds.
    until: i64,
    from: String,
    cause: String,
}

/// A piece of work that is no longer retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The partition key of the item.
    pub pk: String,
    /// When it failed first.
    pub since: Instant,
    /// The last error.
    pub cause: String,
    due: Due,
    from: String,
}

#[derive(Deserialize)]
struct FailedItem {
    failed: FailureSeries,
}

/// Without `failed` it was put back in the meantime.
#[derive(Deserialize)]
struct DeadLetterItem {
    failed: Option<FailureSeries>,
}

impl Store {
    /// At most `limit` pieces of work of `list` that are due at `now`, the earliest due time first: one query of each
    /// shard. An index may not show work yet, or still show work that is done: it is found by a later call, and the
    /// conditions of [`postpone`](Self::postpone), [`keep_from_sweeps`](Self::keep_from_sweeps) and the like fail.
    pub async fn due(
        &self,
        list: DueList,
        now: Instant,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        let pages = stream::iter(list.partitions())
            .map(|shard| self.due_in(shard, now, limit))
            .buffered(CONCURRENT_READS);
        let pages: Vec<Vec<Due>> = pages.try_collect().await?;
        let mut found: Vec<Due> = pages.into_iter().flatten().collect();
        found.sort_by_key(|due| due.due_at);
        found.truncate(limit.into());
        Ok(found)
    }

    async fn due_in(
        &self,
        shard: String,
        now: Instant,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        let values = [(":pk", text(&shard)), (":now", number(now.unix_milliseconds()))];
        let request = self
            .select(Table::Records, "duePk = :pk AND dueAt <= :now", values)
            .index_name(DUE.name);
        let mut found = Vec::new();
        let mut start = None;
        // A query also ends after 1 MB.
        loop {
            let left = usize::from(limit) - found.len();
            let request = request.clone().set_exclusive_start_key(start);
            let (items, next) = self.query(request, left).await?;
            found.extend(items);
            start = next;
            if found.len() >= usize::from(limit) || start.is_none() {
                return Ok(from_items(found)?);
            }
        }
    }

    /// Records that `due` failed at `now` for `cause` and schedules a retry after `pause`; after a day of failures
    /// it becomes a dead letter instead. Does nothing when the work was done or rescheduled in the meantime. After
    /// an error it stays due at once.
    pub async fn postpone(
        &self,
        due: &Due,
        cause: &str,
        pause: Duration,
        now: Instant,
    ) -> Result<(), StoreError> {
        let later = now.after(pause).unix_milliseconds();
        let further = self
            .due_update(due, "dueAt = :at AND failed.#until > :recently")
            .expression("SET dueAt = :later, failed.#until = :later, failed.cause = :cause")
            .name("#until", "until")
            .number(":recently", now.before(SERIES_GAP).unix_milliseconds())
            .number(":later", later)
            .text(":cause", cause);
        if let Some(FailedItem { failed }) = self.update_item(further).await? {
            if now.since(failed.since) >= DEAD_AFTER {
                let move_to_dead = self
                    .due_update(&Due { due_at: later, ..due.clone() }, "dueAt = :at")
                    .expression("SET duePk = :dead, dueAt = :now")
                    .text(":dead", DueList::Dead.code())
                    .number(":now", now.unix_milliseconds());
                self.apply(move_to_dead).await?;
            }
            return Ok(());
        }
        let failed = FailureSeries {
            since: now,
            until: later,
            from: due.due_pk.clone(),
            cause: cause.to_owned(),
        };
        let first = self
            .due_update(due, "dueAt = :at")
            .expression("SET dueAt = :later, failed = :failed")
            .number(":later", later)
            .value(":failed", &failed);
        self.apply(first).await.map(drop)
    }

    /// At most `limit` dead letters, the oldest first. The index may still list some that were put back: those are left
    /// out.
    pub async fn dead_letters(
        &self,
        now: Instant,
        limit: u16,
    ) -> Result<Vec<DeadLetter>, StoreError> {
        let mut dead = Vec::new();
        for due in self.due(DueList::Dead, now, limit).await? {
            let item: Option<DeadLetterItem> = self.get(&due.key()).await?;
            if let Some(failed) = item.and_then(|item| item.failed) {
                let FailureSeries { since, cause, from, .. } = failed;
                dead.push(DeadLetter { pk: due.pk.clone(), since, cause, due, from });
            }
        }
        Ok(dead)
    }

    /// Puts `dead_letter` back into its partition of the index `due`, due at `now`. Returns `false`
    /// when it was no longer a dead letter.
    pub async fn revive(&self, dead_letter: &DeadLetter, now: Instant) -> Result<bool, StoreError> {
        let revive = self
            .due_update(&dead_letter.due, "dueAt = :at")
            .expression("SET duePk = :from, dueAt = :now REMOVE failed")
            .text(":from", &dead_letter.from)
            .number(":now", now.unix_milliseconds());
        self.apply(revive).await
    }

    /// An update of the item of `due` under `condition`, in which `:at` is the time since when it is due. Every change of what
    /// an item waits for changes that time.
    pub(crate) fn due_update(&self, due: &Due, condition: &str) -> Write {
        Write::at(&due.key()).when(condition).number(":at", due.due_at)
    }
}

impl Due {
    /// The list that this is in; `None` for one that this code does not know.
    pub fn list(&self) -> Option<DueList> {
        DueList::of(&self.due_pk)
    }

    /// The due time, in Unix milliseconds.
    pub(crate) const fn milliseconds(&self) -> i64 {
        self.due_at
    }

    fn key(&self) -> Key {
        Key { table: Table::Records, pk: self.pk.clone(), sk: self.sk.clone() }
    }
}
