//! Committees: their items and their alphabetical list.

use domain::{
    CommitteeId,
    committee::{Committee, CommitteeChange},
};
use serde_dynamo::to_item;

use crate::{
    CommitOutcome, Page, Part, Store, StoreError,
    keys::{self},
    table::{Item, ListedItem, Order},
    write::Write,
};

impl Store {
    /// The committee `id`, active or not.
    pub async fn committee(&self, id: CommitteeId) -> Result<Option<Committee>, StoreError> {
        self.card(&keys::committee(id)).await
    }

    /// At most `limit` committees after `position`, active or not, in the order of folded Latin name and id.
    pub async fn committees(
        &self,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Committee>, StoreError> {
        self.cards(
            &keys::LISTING,
            keys::COMMITTEES,
            position,
            limit,
            Order::Ascending,
        )
        .await
    }

    /// Creates `committee`.
    ///
    /// # Errors
    /// [`StoreError::Unexpected`] when its id is taken.
    pub async fn create_committee(&self, committee: &Committee) -> Result<(), StoreError> {
        let mut tx = self.transaction();
        tx.put_new(Part::Committee, Self::committee_put(committee));
        match tx.commit().await? {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::ConditionFailed(_) => Err(StoreError::Unexpected(
                "a new identifier was taken".to_owned(),
            )),
        }
    }

    pub(crate) fn committee_put(committee: &Committee) -> Write {
        let index_key =
            keys::committee_index_key(committee.committee_id, committee.name_latin.as_str());
        keys::committee(committee.committee_id)
            .holding(&ListedItem { card: committee })
            .with(index_key.attributes())
    }

    /// Sets the given fields of `id` and no others, so that concurrent changes of different fields are both kept.
    /// Returns the committee afterwards; `None` when it does not exist.
    pub async fn change_committee(
        &self,
        id: CommitteeId,
        change: &CommitteeChange,
    ) -> Result<Option<Committee>, StoreError> {
        let fields: Item = to_item(change)?;
        let index_key = change
            .name_latin
            .as_ref()
            .map(|name| keys::committee_index_key(id, name.as_str()));
        if fields.is_empty() {
            return self.committee(id).await;
        }
        let mut update = Write::at(&keys::committee(id)).when("attribute_exists(pk)");
        let mut sets = Vec::new();
        for (number, (field, value)) in fields.into_iter().enumerate() {
            sets.push(format!("card.#f{number} = :v{number}"));
            update = update
                .name(format!("#f{number}"), field)
                .attribute(format!(":v{number}"), value);
        }
        if let Some(index_key) = index_key {
            sets.push("listSk = :place".to_owned());
            update = update.text(":place", &index_key.sk);
        }
        let update = update.expression(format!("SET {}", sets.join(", ")));
        Ok(self
            .update_item::<ListedItem<Committee>>(update)
            .await?
            .map(|item| item.card))
    }
}
