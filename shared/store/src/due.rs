//! Work that waits in the index `due`, and work that has failed for so long that a person has to look.

use std::time::Duration;

use domain::Instant;
use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
    keys::{DEAD_DUE, DUE, Key, Table},
    table::{Page, number, text},
    write::Write,
};

/// Work that failed longer ago than this has been done since.
const FORGOTTEN: Duration = Duration::from_secs(3600);
/// Work that has failed for this long waits for a person.
const ENDURED: Duration = Duration::from_secs(86_400);

/// A piece of work: the item that is marked, and for when.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Due {
    /// The partition key of the item, which tells what is to be done.
    pub pk: String,
    sk: String,
    due_pk: String,
    due_at: i64,
}

/// Why a piece of work is late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Failed {
    since: Instant,
    /// When it is looked at again.
    until: i64,
    from: String,
    cause: String,
}

/// A piece of work that nobody tries any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The partition key of the item.
    pub pk: String,
    /// Since when it has failed.
    pub since: Instant,
    /// What was said the last time.
    pub cause: String,
    due: Due,
    from: String,
}

#[derive(Deserialize)]
struct Buried {
    failed: Failed,
}

impl Store {
    /// At most `limit` pieces of work of `partition` that are due at `now`, the most urgent first.
    pub async fn due(
        &self,
        partition: &str,
        now: Instant,
        limit: u16,
    ) -> Result<Vec<Due>, StoreError> {
        let request = self
            .reads
            .query()
            .table_name(self.name(Table::Records))
            .index_name(DUE.name);
        let request = request
            .key_condition_expression("duePk = :pk AND dueAt <= :now")
            .expression_attribute_values(":pk", text(partition))
            .expression_attribute_values(":now", number(now.unix_milliseconds()));
        let page: Page<Due> = self.page(request, "pk", limit).await?;
        Ok(page.items)
    }

    /// `due` failed at `now` for `cause`: it is looked at again after `pause`, and after a day of that no more,
    /// so that it stands in nobody's way. Nothing happens when it was dealt with or marked anew
    /// meanwhile.
    ///
    /// # Errors
    /// When the store is out of reach: then it is looked at again at once.
    pub async fn postpone(
        &self,
        due: &Due,
        cause: &str,
        pause: Duration,
        now: Instant,
    ) -> Result<(), StoreError> {
        let later = now.after(pause).unix_milliseconds();
        let again = self
            .marked(
                due,
                "duePk = :pk AND dueAt = :at AND failed.#until > :recently",
            )
            .expression("SET dueAt = :later, failed.#until = :later, failed.cause = :cause")
            .name("#until", "until")
            .number(":recently", now.before(FORGOTTEN).unix_milliseconds())
            .number(":later", later)
            .text(":cause", cause);
        if let Some(Buried { failed }) = self.update_item(again).await? {
            if now.since(failed.since) >= ENDURED {
                let bury = self
                    .marked(
                        &Due {
                            due_at: later,
                            ..due.clone()
                        },
                        "duePk = :pk AND dueAt = :at",
                    )
                    .expression("SET duePk = :dead, dueAt = :now")
                    .text(":dead", DEAD_DUE)
                    .number(":now", now.unix_milliseconds());
                self.apply(bury).await?;
            }
            return Ok(());
        }
        let failed = Failed {
            since: now,
            until: later,
            from: due.due_pk.clone(),
            cause: cause.to_owned(),
        };
        let first = self
            .marked(due, "duePk = :pk AND dueAt = :at")
            .expression("SET dueAt = :later, failed = :failed")
            .number(":later", later)
            .value(":failed", &failed);
        self.apply(first).await?;
        Ok(())
    }

    /// At most `limit` pieces of work that nobody tries any more, the longest dead first.
    pub async fn dead_letters(
        &self,
        now: Instant,
        limit: u16,
    ) -> Result<Vec<DeadLetter>, StoreError> {
        let mut dead = Vec::new();
        for due in self.due(DEAD_DUE, now, limit).await? {
            if let Some(Buried { failed }) = self.get(&due.key()).await? {
                let Failed {
                    since, cause, from, ..
                } = failed;
                dead.push(DeadLetter {
                    pk: due.pk.clone(),
                    since,
                    cause,
                    due,
                    from,
                });
            }
        }
        Ok(dead)
    }

    /// Has `letter` be tried again from `now` on: whether it was still dead.
    pub async fn revive(&self, letter: &DeadLetter, now: Instant) -> Result<bool, StoreError> {
        let revive = self
            .marked(&letter.due, "duePk = :pk AND dueAt = :at")
            .expression("SET duePk = :from, dueAt = :now REMOVE failed")
            .text(":from", &letter.from)
            .number(":now", now.unix_milliseconds());
        Ok(self
            .update_item::<serde::de::IgnoredAny>(revive)
            .await?
            .is_some())
    }

    /// An update of the item of `due` under `condition`, in which `:pk` and `:at` are where its mark stands.
    pub(crate) fn marked(&self, due: &Due, condition: &str) -> Write {
        Write::at(&due.key())
            .when(condition)
            .text(":pk", &due.due_pk)
            .number(":at", due.due_at)
    }
}

impl Due {
    fn key(&self) -> Key {
        Key {
            table: Table::Records,
            pk: self.pk.clone(),
            sk: self.sk.clone(),
        }
    }
}
