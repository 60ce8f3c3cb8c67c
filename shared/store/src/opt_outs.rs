//! Numbers that are not to be written to.

use std::collections::HashSet;

use domain::{CommitteeId, E164, sms::OptOut};
use futures_util::future::join_all;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, Key},
    table::{Carded, Order},
};

/// Items that DynamoDB gives at once.
const AT_ONCE: usize = 100;

impl Transaction {
    /// Notes `opt_out`, if the number is not noted there already; refused as [`Part::OptOut`] when it is.
    pub fn opt_out(&mut self, opt_out: &OptOut) {
        let key = keys::opt_out(opt_out.committee_id, &opt_out.number);
        let put = key
            .holding(&Carded { card: opt_out })
            .with(keys::opt_out_place(opt_out).attributes());
        self.put_new(Part::OptOut, put);
    }

    /// `number` may be written to again, as far as the list of `committee`, or of all, is concerned.
    pub fn opt_in(&mut self, committee: Option<CommitteeId>, number: &E164) {
        self.remove(Part::OptOut, &keys::opt_out(committee, number))
    }
}

impl Store {
    /// What the list of `committee`, or of all committees, says of `number`.
    pub async fn opt_out(
        &self,
        committee: Option<CommitteeId>,
        number: &E164,
    ) -> Result<Option<OptOut>, StoreError> {
        self.card(&keys::opt_out(committee, number)).await
    }

    /// Whether `committee` may not write to `number`.
    pub async fn has_opted_out(
        &self,
        committee: CommitteeId,
        number: &E164,
    ) -> Result<bool, StoreError> {
        let found = self
            .get_each([
                keys::opt_out(Some(committee), number),
                keys::opt_out(None, number),
            ])
            .await?;
        Ok(found.iter().any(Option::is_some))
    }

    /// Those of `numbers` that `committee` may not write to, read side by side. Eventually consistent: what is
    /// sent asks once more.
    pub async fn opted_out(
        &self,
        committee: CommitteeId,
        numbers: &HashSet<&E164>,
    ) -> Result<HashSet<E164>, StoreError> {
        let keys = numbers.iter().flat_map(|number| {
            [
                keys::opt_out(Some(committee), number),
                keys::opt_out(None, number),
            ]
        });
        let keys: Vec<Key> = keys.collect();
        let found = join_all(
            keys.chunks(AT_ONCE)
                .map(|keys| self.get_many::<Carded<OptOut>>(keys, "card")),
        )
        .await;
        let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(found
            .into_iter()
            .flatten()
            .map(|item| item.card.number)
            .collect())
    }

    /// At most `limit` numbers of the list of `committee`, or of all committees, after `position`, newest first.
    pub async fn opt_outs(
        &self,
        committee: Option<CommitteeId>,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<OptOut>, StoreError> {
        let list = keys::opt_outs_of(committee);
        self.cards(&keys::LISTING, &list, position, limit, Order::Descending)
            .await
    }
}
