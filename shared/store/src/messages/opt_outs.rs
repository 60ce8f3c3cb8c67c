//! Opt-outs: phone numbers that must not receive messages from one committee or from any.

use std::collections::HashSet;

use domain::{CommitteeId, E164, sms::OptOut};
use futures_util::future::join_all;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, Key},
    table::{ListedItem, Order},
    write::Write,
};

/// Keys in one BatchGetItem request.
const BATCH_SIZE: usize = 100;

impl Transaction {
    /// Stores `opt_out`. The condition fails ([`Part::OptOut`]) when its list already has the number.
    pub fn opt_out(&mut self, opt_out: &OptOut) {
        let key = keys::opt_out(opt_out.committee_id, &opt_out.number);
        let put = key
            .holding(&ListedItem { card: opt_out })
            .with(keys::opt_out_index_key(opt_out).attributes());
        self.put_new(Part::OptOut, put);
    }

    /// Removes `number` from the opt-outs of `committee`, or from those for all committees (`None`). The condition fails
    /// ([`Part::OptOut`]) when the list does not have it.
    pub fn opt_in(&mut self, committee: Option<CommitteeId>, number: &E164) {
        let delete = Write::at(&keys::opt_out(committee, number)).when("attribute_exists(pk)");
        self.delete(Part::OptOut, delete);
    }
}

impl Store {
    /// The opt-out of `number` in the list of `committee`, or in the list for all committees (`None`).
    pub async fn opt_out(
        &self,
        committee: Option<CommitteeId>,
        number: &E164,
    ) -> Result<Option<OptOut>, StoreError> {
        self.card(&keys::opt_out(committee, number)).await
    }

    /// Whether `number` has opted out of messages from `committee` or from all committees.
    pub async fn has_opted_out(
        &self,
        committee: CommitteeId,
        number: &E164,
    ) -> Result<bool, StoreError> {
        let found = self
            .get_each([keys::opt_out(Some(committee), number), keys::opt_out(None, number)])
            .await?;
        Ok(found.iter().any(Option::is_some))
    }

    /// Which of `numbers` have opted out of messages from `committee` or from all committees. Eventually
    /// consistent: it is checked again before the message is sent.
    pub async fn opted_out(
        &self,
        committee: CommitteeId,
        numbers: &HashSet<&E164>,
    ) -> Result<HashSet<E164>, StoreError> {
        let keys = numbers.iter().flat_map(|number| {
            [keys::opt_out(Some(committee), number), keys::opt_out(None, number)]
        });
        let keys: Vec<Key> = keys.collect();
        let found = join_all(
            keys.chunks(BATCH_SIZE).map(|keys| self.get_many::<ListedItem<OptOut>>(keys, "card")),
        )
        .await;
        let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().flatten().map(|item| item.card.number).collect())
    }

    /// At most `limit` opt-outs of `committee`, or of those for all committees (`None`), after `position`, newest
    /// first.
    pub async fn opt_outs(
        &self,
        committee: Option<CommitteeId>,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<OptOut>, StoreError> {
        let list = keys::opt_outs_of(committee);
        self.cards(&list, position, limit, Order::Descending).await
    }
}
