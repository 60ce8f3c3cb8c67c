//! The audit. Each entry stands several times, so that each of its lists is read without a filter: under
//! its committee (and from there in the list of all), under who did it, and under whom it was done to.

use std::time::Duration;

use domain::{
    CommitteeId, UserId,
    audit::{AuditEntry, TargetType},
};

use crate::{
    Page, Part, Store, StoreError, Transaction,
    keys::{self, AUDIT_PREFIX, Table},
    table::{Carded, Order, text, ttl},
};

/// How long an entry is kept.
const KEPT: Duration = Duration::from_secs(5 * 365 * 86_400);

impl Transaction {
    /// Notes `entry`.
    pub fn note(&mut self, entry: &AuditEntry) {
        let id = entry.audit_id.to_string();
        let of_committee = keys::audit_of_committee(entry.committee_id, &id);
        let target = Some(UserId::new(entry.target_id))
            .filter(|id| entry.target_type == TargetType::User && *id != entry.actor_id);
        let people = [Some(entry.actor_id), target]
            .into_iter()
            .flatten()
            .map(|person| keys::audit_of_person(person, &id));
        for key in std::iter::once(of_committee.clone()).chain(people) {
            let mut put = key
                .holding(&Carded { card: entry })
                .with([ttl(entry.created_at.after(KEPT))]);
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
    /// At most `limit` entries of all committees before `position`, newest first.
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

    /// The same of `committee`.
    pub async fn audit_of_committee(
        &self,
        committee: CommitteeId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let pk = keys::audit_of_committee(committee, "").pk;
        let page: Page<Carded<AuditEntry>> = self
            .newest(Table::Records, &pk, AUDIT_PREFIX, position, limit)
            .await?;
        Ok(page.map(|item| item.card))
    }

    /// The same of what `person` did, and of what was done to him.
    pub async fn audit_of_person(
        &self,
        person: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let pk = keys::audit_of_person(person, "").pk;
        let page: Page<Carded<AuditEntry>> = self
            .newest(Table::Records, &pk, AUDIT_PREFIX, position, limit)
            .await?;
        Ok(page.map(|item| item.card))
    }
}
