//! Committees.

use domain::{
    CommitteeId,
    committee::{Committee, CommitteeChange},
};
use serde_dynamo::to_item;

use crate::{
    CommitOutcome, Page, Part, Store, StoreError,
    keys::{self},
    table::{Carded, Item, Order},
    write::Write,
};

impl Store {
    /// The committee `id`.
    pub async fn committee(&self, id: CommitteeId) -> Result<Option<Committee>, StoreError> {
        self.card(&keys::committee(id)).await
    }

    /// At most `limit` committees after `position`, active or not, by folded Latin name, then id.
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

    /// Writes a committee that was not there.
    ///
    /// # Errors
    /// When the store is out of reach, or something stands at the new id.
    pub async fn create_committee(&self, committee: &Committee) -> Result<(), StoreError> {
        let mut create = self.transaction();
        create.put_new(Part::Committee, Self::committee_put(committee));
        match create.commit().await? {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::ConditionFailed(_) => Err(StoreError::Unexpected(
                "a new identifier was taken".to_owned(),
            )),
        }
    }

    pub(crate) fn committee_put(committee: &Committee) -> Write {
        let place = keys::committee_place(committee.committee_id, committee.name_latin.as_str());
        keys::committee(committee.committee_id)
            .holding(&Carded { card: committee })
            .with(place.attributes())
    }

    /// Sets the given fields of `id` and no others, so that two changes of different fields both
    /// stay; the committee afterwards, or `None` when there is none.
    pub async fn change_committee(
        &self,
        id: CommitteeId,
        change: &CommitteeChange,
    ) -> Result<Option<Committee>, StoreError> {
        let fields: Item = to_item(change)?;
        let place = change
            .name_latin
            .as_ref()
            .map(|name| keys::committee_place(id, name.as_str()));
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
        if let Some(place) = place {
            sets.push("listSk = :place".to_owned());
            update = update.text(":place", &place.sk);
        }
        let update = update.expression(format!("SET {}", sets.join(", ")));
        Ok(self
            .update_item::<Carded<Committee>>(update)
            .await?
            .map(|item| item.card))
    }
}
