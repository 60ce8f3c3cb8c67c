//! The audit log. Each entry is stored several times, so that every list is read without a filter: under its
//! committee (which also puts it into the list of all committees), its actor, and its target user. The copies of people
//! are also listed by committee: what a committee admin reads, and where its pages end, then depends on no entry of
//! another committee.

use std::time::Duration;

use domain::{
    CommitteeId, Instant, UserId,
    audit::{AuditEntry, TargetType},
};
use uuid::Uuid;

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, AUDITS, Table},
    table::{ListedItem, Order, ttl},
};

const RETENTION: Duration = Duration::from_secs(5 * 365 * 86_400);

impl Transaction {
    /// Stores `entry` in all its lists, for five years.
    pub fn record_audit(&mut self, entry: &AuditEntry) {
        let (id, audited) = (entry.audit_id, &entry.audited);
        let committee = audited.committee_id;
        let target = Some(UserId::new(audited.target_id))
            .filter(|id| audited.target_type == TargetType::User && *id != entry.actor_id);
        let people = [Some(entry.actor_id), target].into_iter().flatten();
        let of_people = people.map(|user| {
            let list = keys::audit_of_person_in(user, committee);
            (keys::audit_of_person(user, id), list)
        });
        let of_committee = keys::audit_of_committee(committee, id);
        for (key, list) in of_people.chain([(of_committee, keys::audit())]) {
            let put = key
                .holding(&ListedItem { card: entry })
                .with(list.at(id).attributes())
                .with([ttl(entry.created_at.after(RETENTION))]);
            self.put_new(Part::Other, put);
        }
    }
}

/// A list of audit entries.
#[derive(Debug, Clone, Copy)]
pub enum AuditList {
    /// All entries: one query of each shard.
    All,
    /// The entries of a committee.
    Committee(CommitteeId),
    /// The entries that have an account as actor or target.
    Person(UserId),
    /// Of these, the entries of a committee.
    PersonIn(UserId, CommitteeId),
}

impl Store {
    /// At most `limit` entries of `list` after `position`, newest first, of the five years before `now`.
    pub async fn audit(
        &self,
        list: AuditList,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let page = match list {
            AuditList::All => {
                let id = |entry: &AuditEntry| entry.audit_id.to_string();
                self.newest_cards(keys::audit(), position, limit, id).await?
            }
            AuditList::Committee(committee) => {
                let pk = keys::audit_of_committee(committee, Uuid::nil()).pk;
                self.stored_audit(&pk, position, limit).await?
            }
            AuditList::Person(user) => {
                let pk = keys::audit_of_person(user, Uuid::nil()).pk;
                self.stored_audit(&pk, position, limit).await?
            }
            AuditList::PersonIn(user, committee) => {
                let list = keys::audit_of_person_in(user, committee);
                self.cards(&list, position, limit, Order::Descending).await?
            }
        };
        Ok(page.take_while(|entry| now < entry.created_at.after(RETENTION)))
    }

    /// Whether `entry` is stored.
    pub async fn has_audit(&self, entry: &AuditEntry) -> Result<bool, StoreError> {
        let key = keys::audit_of_committee(entry.audited.committee_id, entry.audit_id);
        let stored: Option<ListedItem<AuditEntry>> = self.get(&key).await?;
        Ok(stored.is_some())
    }

    async fn stored_audit(
        &self,
        pk: &str,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let page: Page<ListedItem<AuditEntry>> =
            self.newest(Table::Records, pk, AUDITS, position, limit).await?;
        Ok(page.map(|item| item.card))
    }
}
