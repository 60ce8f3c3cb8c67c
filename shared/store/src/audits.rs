//! The audit log. Each entry is stored several times, so that every list is read without a filter: under its
//! committee (which also puts it into the list of all committees), its actor, and its target user.

use std::time::Duration;

use domain::{
    CommitteeId, UserId,
    audit::{AuditEntry, TargetType},
};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, AUDIT_PREFIX, Table},
    table::{ListedItem, Order, text, ttl},
};

const RETENTION: Duration = Duration::from_secs(5 * 365 * 86_400);

impl Transaction {
    /// Stores `entry` in all its lists, for five years.
    pub fn record_audit(&mut self, entry: &AuditEntry) {
        let id = entry.audit_id.to_string();
        let of_committee = keys::audit_of_committee(entry.committee_id, &id);
        let target = Some(UserId::new(entry.target_id))
            .filter(|id| entry.target_type == TargetType::User && *id != entry.actor_id);
        let people = [Some(entry.actor_id), target]
            .into_iter()
            .flatten()
            .map(|user| keys::audit_of_person(user, &id));
        for key in std::iter::once(of_committee.clone()).chain(people) {
            let mut put = key
                .holding(&ListedItem { card: entry })
                .with([ttl(entry.created_at.after(RETENTION))]);
            if key == of_committee {
                put = put.with([
                    ("listPk".to_owned(), text(keys::AUDIT)),
                    ("listSk".to_owned(), text(&id)),
                ]);
            }
            self.put_new(Part::New, put);
        }
    }
}

impl Store {
    /// At most `limit` audit entries of all committees after `position`, newest first.
    pub async fn audit(
        &self,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<AuditEntry>, StoreError> {
        self.cards(
            &keys::LISTING,
            keys::AUDIT,
            position,
            limit,
            Order::Descending,
        )
        .await
    }

    /// Like [`audit`](Self::audit), of one committee.
    pub async fn audit_of_committee(
        &self,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let pk = keys::audit_of_committee(committee, "").pk;
        let page: Page<ListedItem<AuditEntry>> = self
            .newest(Table::Records, &pk, AUDIT_PREFIX, position, limit)
            .await?;
        Ok(page.map(|item| item.card))
    }

    /// Like [`audit`](Self::audit), of the entries that have `user` as actor or target.
    pub async fn audit_of_person(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let pk = keys::audit_of_person(user, "").pk;
        let page: Page<ListedItem<AuditEntry>> = self
            .newest(Table::Records, &pk, AUDIT_PREFIX, position, limit)
            .await?;
        Ok(page.map(|item| item.card))
    }
}
