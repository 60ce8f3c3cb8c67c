//! Lists of text messages and batches, by sender or committee.

use domain::{CommitteeId, Instant, UserId, batch::Batch, sms::Sms};
use futures_util::future::join_all;

use crate::{
    Page, Store, StoreError,
    keys::{self, PUBLISHED},
    table::Order,
};

/// Whose messages or batches a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Senders {
    /// Those of one user.
    User(UserId),
    /// Those that users sent while they were in this committee. What was accepted before this list existed is not in it.
    Committee(CommitteeId),
}

impl Store {
    /// At most `limit` messages of `senders` after `position`, newest first, of those that are kept at `now`. For a
    /// committee one query of each shard.
    pub async fn kept_sms_of(
        &self,
        senders: Senders,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<Sms>, StoreError> {
        let page = match senders {
            Senders::User(user) => self.sms_of(user, position, limit).await?,
            Senders::Committee(committee) => self.sms_in(committee, position, limit).await?,
        };
        Ok(page.take_while(|sms| sms.sending.is_kept(now)))
    }

    async fn sms_in(
        &self,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Sms>, StoreError> {
        let shards: Vec<String> = keys::numbered_shards(&keys::sms_in(committee)).collect();
        let pages = shards
            .iter()
            .map(|shard| self.cards::<Sms>(&PUBLISHED, shard, position, limit, Order::Descending));
        let pages = join_all(pages).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let id = |sms: &Sms| sms.sms_id.to_string();
        Ok(Page::merged(pages, limit, id, id))
    }

    /// At most `limit` batches of `senders` after `position`, newest first, of those that are kept at `now`.
    pub async fn kept_batches_of(
        &self,
        senders: Senders,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<Batch>, StoreError> {
        let page = match senders {
            Senders::User(user) => self.batches_of(user, position, limit).await?,
            Senders::Committee(committee) => {
                let list = keys::batches_in(committee);
                self.cards(&PUBLISHED, &list, position, limit, Order::Descending).await?
            }
        };
        Ok(page.take_while(|batch| batch.sending.is_kept(now)))
    }
}
