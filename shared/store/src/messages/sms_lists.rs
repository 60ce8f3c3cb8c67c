//! Lists of text messages and batches, by sender or committee.

use domain::{CommitteeId, Instant, UserId, batch::Batch, sms::Sms};

use crate::{Page, Store, StoreError, keys, table::Order};

/// Whose messages or batches a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Senders {
    /// The messages or batches of one user.
    User(UserId),
    /// What users sent while they were in this committee.
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
            Senders::Committee(committee) => {
                let id = |sms: &Sms| sms.sms_id.to_string();
                self.newest_cards(keys::sms_in(committee), position, limit, id).await?
            }
        };
        Ok(page.take_while(|sms| sms.sending.is_kept(now)))
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
                self.cards(&list, position, limit, Order::Descending).await?
            }
        };
        Ok(page.take_while(|batch| batch.sending.is_kept(now)))
    }
}
