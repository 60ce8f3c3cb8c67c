//! Committees: their items and their alphabetical list.

use domain::{CommitteeId, committee::Committee};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self},
    table::{ListedItem, Order, text},
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

    /// At most `limit` committees after `position`, active or not, in the order of folded Latin name and id.
    pub async fn committees(
        &self,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Committee>, StoreError> {
        self.cards(&keys::committees(), position, limit, Order::Ascending).await
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
        self.put_new(Part::NewItem, Store::committee_put(committee));
    }

    /// Writes the fields in which `after` differs from `before`, so that concurrent changes of different fields are
    /// both kept. The condition fails (`Part::Committee`) when one of them has changed since `before` was read.
    pub fn change_committee(&mut self, before: &Committee, after: &Committee) {
        let id = before.committee_id;
        let mut update = Write::at(&keys::committee(id))
            .when("attribute_exists(pk)")
            .set_changed(before, after, true);
        if before.name_latin != after.name_latin {
            let index_key = keys::committee_index_key(id, after.name_latin.as_str());
            update = update.set(&["listSk"], text(&index_key.sk));
        }
        self.update(Part::Committee, update);
    }
}
