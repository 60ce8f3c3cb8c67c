//! Committees.

use aws_sdk_dynamodb::types::Update;
use domain::{
    CommitteeId,
    committee::{Committee, CommitteeChange},
};
use serde_dynamo::to_item;

use crate::{
    Fault, Outcome, Page, Part, Store,
    keys::{self, Table},
    table::{Carded, Item, Order, text},
};

impl Store {
    /// The committee `id`.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn committee(&self, id: CommitteeId) -> Result<Option<Committee>, Fault> {
        Ok(self
            .get::<Carded<Committee>>(&keys::committee(id))
            .await?
            .map(|item| item.card))
    }

    /// At most `limit` committees after `position`, active or not, by folded Latin name, then id.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn committees(
        &self,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Committee>, Fault> {
        Ok(self
            .list::<Carded<Committee>>(
                &keys::LISTING,
                keys::COMMITTEES,
                position,
                limit,
                Order::Ascending,
            )
            .await?
            .map(|item| item.card))
    }

    /// Writes a committee that was not there.
    ///
    /// # Errors
    /// When the store is out of reach, or something stands at the new id.
    pub async fn create_committee(&self, committee: &Committee) -> Result<(), Fault> {
        let mut create = self.transaction();
        create.put_new(
            Part::Committee,
            &keys::committee(committee.committee_id),
            Self::committee_item(committee)?,
        )?;
        match create.commit().await? {
            Outcome::Done => Ok(()),
            Outcome::Refused(_) => Err(Fault::Broken("a new identifier was taken".to_owned())),
        }
    }

    pub(crate) fn committee_item(committee: &Committee) -> Result<Item, Fault> {
        let mut item =
            keys::committee(committee.committee_id).holding(&Carded { card: committee })?;
        item.extend(
            keys::committee_place(committee.committee_id, committee.name_latin.as_str())
                .attributes(),
        );
        Ok(item)
    }

    /// Sets the given fields of `id` and no others, so that two changes of different fields both
    /// stay; the committee afterwards, or `None` when there is none.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn change_committee(
        &self,
        id: CommitteeId,
        change: &CommitteeChange,
    ) -> Result<Option<Committee>, Fault> {
        let fields: Item = to_item(change)?;
        let place = change
            .name_latin
            .as_ref()
            .map(|name| keys::committee_place(id, name.as_str()));
        if fields.is_empty() {
            return self.committee(id).await;
        }
        let mut update = Update::builder()
            .table_name(self.name(Table::Records))
            .set_key(Some(keys::committee(id).item()))
            .condition_expression("attribute_exists(pk)");
        let mut sets = Vec::new();
        for (number, (field, value)) in fields.into_iter().enumerate() {
            sets.push(format!("card.#f{number} = :v{number}"));
            update = update
                .expression_attribute_names(format!("#f{number}"), field)
                .expression_attribute_values(format!(":v{number}"), value);
        }
        if let Some(place) = place {
            sets.push("listSk = :place".to_owned());
            update = update.expression_attribute_values(":place", text(&place.sk));
        }
        let update = update
            .update_expression(format!("SET {}", sets.join(", ")))
            .build()?;
        Ok(self
            .update::<Carded<Committee>>(update)
            .await?
            .map(|item| item.card))
    }
}
