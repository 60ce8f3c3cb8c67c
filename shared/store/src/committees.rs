//! Committees: their items and their alphabetical list.

use std::collections::HashMap;

use domain::{CommitteeId, Instant, committee::Committee, times::SWEEP_DELAY, user::User};
use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, DueList, Key},
    table::{ListedItem, MAX_KEYS, Order, due, text},
    write::Write,
};

/// The promotion of people who wait for courses of a committee that is active again, in steps.
#[derive(Debug, Clone)]
pub struct Reopening {
    committee: CommitteeId,
    /// The position in the list of its courses up to which it was done.
    pub position: Option<String>,
    due_at: i64,
}

impl Store {
    /// The committee `id`, active or not. What is only for active committees reads it; a condition check in the
    /// transaction would make all concurrent transactions of one committee conflict
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling>).
    /// So a request that began before the committee was closed may still take effect, and none that begins afterwards.
    pub async fn committee(&self, id: CommitteeId) -> Result<Option<Committee>, StoreError> {
        self.card(&keys::committee(id)).await
    }

    /// The committees `ids`, which are different, active or not, by id; eventually consistent. One request for each hundred,
    /// all at once.
    pub async fn committees_by_id(
        &self,
        ids: &[CommitteeId],
    ) -> Result<HashMap<CommitteeId, Committee>, StoreError> {
        let batches = ids.chunks(MAX_KEYS).map(async |ids| {
            let keys: Vec<Key> = ids.iter().map(|id| keys::committee(*id)).collect();
            let found: Result<Vec<ListedItem<Committee>>, StoreError> =
                self.get_many(&keys, "card").await;
            found
        });
        let found = try_join_all(batches).await?.into_iter().flatten();
        Ok(found.map(|item| (item.card.committee_id, item.card)).collect())
    }

    /// The committee of `user`: `read`, which is the one with the id `expected`, or another one, which is read.
    pub async fn committee_of(
        &self,
        user: &User,
        expected: CommitteeId,
        read: Option<Committee>,
    ) -> Result<Committee, StoreError> {
        let found = match user.committee_id {
            id if id == expected => read,
            id => self.committee(id).await?,
        };
        found.ok_or_else(|| StoreError::Unexpected("a user's committee does not exist".to_owned()))
    }

    /// At most `limit` committees after `position`, active or not, in the order of folded Latin name and id.
    pub async fn committees(
        &self,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Committee>, StoreError> {
        self.cards(&keys::committees(), position, limit, Order::Ascending).await
    }

    /// What is left to do because the committee `id` is active again, if something is.
    pub async fn reopening(&self, id: CommitteeId) -> Result<Option<Reopening>, StoreError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ReopenedCommittee {
            due_at: Option<i64>,
            reopened_to: Option<String>,
        }
        let item: Option<ReopenedCommittee> = self.get(&keys::committee(id)).await?;
        Ok(item.and_then(|ReopenedCommittee { due_at, reopened_to: position }| {
            Some(Reopening { committee: id, position, due_at: due_at? })
        }))
    }

    /// Records that the courses of `reopening` up to `position` were handled, all of them if it is `None`. What is left is due
    /// at `now`. Does nothing when the committee became active once more since it was read.
    pub async fn continue_reopening(
        &self,
        reopening: &Reopening,
        position: Option<String>,
        now: Instant,
    ) -> Result<(), StoreError> {
        let key = keys::committee(reopening.committee);
        let update = Write::at(&key).when("dueAt = :at").number(":at", reopening.due_at);
        let update = match position {
            Some(position) => update
                .expression("SET dueAt = :now, reopenedTo = :position")
                .number(":now", now.unix_milliseconds())
                .text(":position", &position),
            None => update.expression("REMOVE duePk, dueAt, reopenedTo"),
        };
        self.apply(update).await?;
        Ok(())
    }

    pub(crate) fn committee_put(committee: &Committee) -> Write {
        let index_key =
            keys::committee_index_key(committee.committee_id, committee.name_latin.as_str());
        keys::committee(committee.committee_id)
            .holding(&ListedItem { card: committee })
            .with(index_key.attributes())
    }
}

impl Transaction {
    /// Creates `committee`, which has a new identifier.
    pub fn create_committee(&mut self, committee: &Committee) {
        self.put_new(Part::Other, Store::committee_put(committee));
    }

    /// Writes the fields in which `after` differs from `before`, so that concurrent changes of different fields are
    /// both kept, and makes the worker promote people who wait for courses of a committee that is active again. The condition
    /// fails (`Part::Committee`) when one of them has changed since `before` was read.
    pub fn change_committee(&mut self, before: &Committee, after: &Committee, now: Instant) {
        let id = before.committee_id;
        let mut update = Write::at(&keys::committee(id))
            .when_unchanged(before, after)
            .set_changed(before, after);
        if before.name_latin != after.name_latin {
            let index_key = keys::committee_index_key(id, after.name_latin.as_str());
            update = update.set(&["listSk"], text(&index_key.sk));
        }
        if after.is_active && !before.is_active {
            for (name, value) in due(DueList::Courses, &keys::committee(id), now.after(SWEEP_DELAY))
            {
                update = update.set(&[&name], value);
            }
            update = update.unset(&["reopenedTo"]);
        }
        self.update(Part::Committee, update);
    }
}
