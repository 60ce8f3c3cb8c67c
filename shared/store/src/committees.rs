//! Committees: their items and their alphabetical list.

use domain::{CommitteeId, Instant, committee::Committee, user::User};
use serde::Deserialize;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, DueList, SWEEP_DELAY},
    table::{ListedItem, Order, due, text},
    write::Write,
};

impl Store {
    /// The committee `id`, active or not. What is only for active committees reads it; a condition check in the
    /// transaction would make all concurrent transactions of one committee conflict
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling>).
    /// So a request that began before the committee was closed may still take effect, and none that begins afterwards.
    pub async fn committee(&self, id: CommitteeId) -> Result<Option<Committee>, StoreError> {
        self.card(&keys::committee(id)).await
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

    /// When the seats of all courses of the committee `id` were made due, if they are.
    pub async fn reopening(&self, id: CommitteeId) -> Result<Option<i64>, StoreError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Reopened {
            due_at: Option<i64>,
        }
        let item: Option<Reopened> = self.get(&keys::committee(id)).await?;
        Ok(item.and_then(|item| item.due_at))
    }

    /// Records that the seats of all courses of the committee `id`, which were made due at `due_at`, were handled.
    pub async fn finish_reopening(&self, id: CommitteeId, due_at: i64) -> Result<(), StoreError> {
        let update = Write::at(&keys::committee(id)).when("dueAt = :at").number(":at", due_at);
        self.apply(update.expression("REMOVE duePk, dueAt")).await?;
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
            .when("attribute_exists(pk)")
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
        }
        self.update(Part::Committee, update);
    }
}
