//! The audit log. Each entry is stored several times, so that every list is read without a filter: under its
//! committee (which also puts it into the list of all committees), its actor, and its target user. The copies of people
//! are also listed by committee: what a committee admin reads, and where its pages end, then depends on no entry of
//! another committee. Copies that were stored before that list existed are not in it.

use std::time::Duration;

use domain::{
    CommitteeId, Instant, UserId,
    audit::{AuditEntry, TargetType},
};
use futures_util::future::join_all;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, AUDIT_PREFIX, Table},
    table::{ListedItem, Order, ttl},
};

const RETENTION: Duration = Duration::from_secs(5 * 365 * 86_400);

impl Transaction {
    /// Stores `entry` in all its lists, for five years.
    pub fn record_audit(&mut self, entry: &AuditEntry) {
        let (id, committee) = (entry.audit_id.to_string(), entry.committee_id);
        let target = Some(UserId::new(entry.target_id))
            .filter(|id| entry.target_type == TargetType::User && *id != entry.actor_id);
        let people = [Some(entry.actor_id), target].into_iter().flatten();
        let of_people = people.map(|user| {
            let list = keys::audit_of_person_in(user, committee);
            (keys::audit_of_person(user, &id), list)
        });
        let of_committee = keys::audit_of_committee(committee, &id);
        for (key, list) in of_people.chain([(of_committee, keys::shard(keys::AUDIT, &id))]) {
            let put = key
                .holding(&ListedItem { card: entry })
                .with(keys::audit_index_key(list, &id).attributes())
                .with([ttl(entry.created_at.after(RETENTION))]);
            self.put_new(Part::New, put);
        }
    }
}

impl Store {
    /// At most `limit` audit entries of all committees after `position`, newest first, of the five years before `now`:
    /// one query of each shard.
    pub async fn audit(
        &self,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let shards = keys::shards(keys::AUDIT);
        let pages = shards
            .iter()
            .map(|shard| self.listed_audit(shard, position, limit, now));
        let pages = join_all(pages)
            .await
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        let id = |entry: &AuditEntry| entry.audit_id.to_string();
        Ok(Page::merged(pages, limit, id, id))
    }

    /// Like [`audit`](Self::audit), of one committee.
    pub async fn audit_of_committee(
        &self,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let pk = keys::audit_of_committee(committee, "").pk;
        self.stored_audit(&pk, position, limit, now).await
    }

    /// Like [`audit`](Self::audit), of the entries that have `user` as actor or target.
    pub async fn audit_of_person(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let pk = keys::audit_of_person(user, "").pk;
        self.stored_audit(&pk, position, limit, now).await
    }

    /// Like [`audit_of_person`](Self::audit_of_person), of the entries of `committee`.
    pub async fn audit_of_person_in(
        &self,
        user: UserId,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let pk = keys::audit_of_person_in(user, committee);
        self.listed_audit(&pk, position, limit, now).await
    }

    async fn listed_audit(
        &self,
        pk: &str,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let page = self
            .cards(&keys::LISTING, pk, position, limit, Order::Descending)
            .await?;
        Ok(page.take_while(|entry| is_kept(entry, now)))
    }

    async fn stored_audit(
        &self,
        pk: &str,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let page: Page<ListedItem<AuditEntry>> = self
            .newest(Table::Records, pk, AUDIT_PREFIX, position, limit)
            .await?;
        let page = page.map(|item| item.card);
        Ok(page.take_while(|entry| is_kept(entry, now)))
    }
}

fn is_kept(entry: &AuditEntry, now: Instant) -> bool {
    now < entry.created_at.after(RETENTION)
}
