//! Certificates. The attendance item of the person names the latest one of a course, and the condition of its write is that the
//! item has not changed since that one was found to be valid no more: so there is one valid certificate of a course and a
//! person.

use domain::{
    Instant, UserId,
    certificate::{Certificate, CertificateCode},
    registration::Registration,
};

use serde::Deserialize;

use crate::{
    Page, Part, Store, StoreError, StoredMarks, Transaction,
    keys::{self, DueList, IndexKey, Key, certificates_of},
    registrations::attendance::attendance_update,
    table::{ListedItem, Order, card, due},
    write::Write,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredCertificate {
    card: Certificate,
    due_at: Option<i64>,
}

impl Store {
    /// The certificate `code`.
    pub async fn certificate(
        &self,
        code: &CertificateCode,
    ) -> Result<Option<Certificate>, StoreError> {
        self.card(&keys::certificate(code)).await
    }

    /// The certificates `codes`, at most 100, in that order; `None` without a code.
    pub async fn certificates(
        &self,
        codes: &[Option<CertificateCode>],
    ) -> Result<Vec<Option<Certificate>>, StoreError> {
        let keys: Vec<Key> = codes.iter().flatten().map(keys::certificate).collect();
        let mut items = self.get_all(&keys).await?.into_iter();
        let found = codes.iter().map(|code| match code {
            Some(_) => card(items.next().flatten()),
            None => Ok(None),
        });
        found.collect()
    }

    /// The certificate `code`, if the time after which it becomes anonymous is over at `now`.
    pub async fn certificate_to_forget(
        &self,
        code: &CertificateCode,
        now: Instant,
    ) -> Result<Option<Certificate>, StoreError> {
        let stored: Option<StoredCertificate> = self.get(&keys::certificate(code)).await?;
        let is_over = |at: i64| at <= now.unix_milliseconds();
        Ok(stored.filter(|stored| stored.due_at.is_some_and(is_over)).map(|stored| stored.card))
    }

    /// At most `limit` certificates of `user` after `position`, latest first. The list may be late; the certificates are as of
    /// now.
    pub async fn certificates_of(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
    ) -> Result<Page<Certificate>, StoreError> {
        let list = certificates_of(user);
        let page: Page<Certificate> = self.cards(&list, position, limit, Order::Descending).await?;
        let codes: Vec<_> = page.items.into_iter().map(|one| Some(one.snapshot.code)).collect();
        let items = self.certificates(&codes).await?.into_iter().flatten();
        let items = items.filter(|one| one.user_id == Some(user)).collect();
        Ok(Page { items, last: page.last })
    }
}

impl Transaction {
    /// Stores `certificate` of the person of `registration` with the attendance `stored`; `forget_at` is when the worker makes it
    /// anonymous. The conditions fail when the attendance (`Part::Attendance`) or the registration (`Part::Registration`) has
    /// changed since it was read.
    pub fn add_certificate(
        &mut self,
        certificate: &Certificate,
        registration: &Registration,
        stored: &StoredMarks,
        forget_at: Instant,
    ) {
        let card = &registration.card;
        let code = &certificate.snapshot.code;
        let update = attendance_update(card.course_id, card.user_id, stored)
            .expression("SET certificate = :code, revision = :after")
            .value(":code", code);
        self.update(Part::Attendance, update);
        let unchanged = Write::at(&keys::registration(card.course_id, card.user_id))
            .when("card.version = :version")
            .number(":version", card.version);
        self.check(Part::Registration, unchanged);
        let key = keys::certificate(code);
        let put = key.holding(&ListedItem { card: certificate });
        let index_key = keys::certificate_index_key(certificate).into_iter();
        let put = put.with(index_key.flat_map(IndexKey::attributes));
        self.put_new(Part::Other, put.with(due(DueList::Courses, &key, forget_at)));
    }

    /// Replaces the certificate `before` by `after`, which is in no list if it is anonymous. The condition fails
    /// (`Part::Certificate`) when it has changed since it was read.
    pub fn change_certificate(&mut self, before: &Certificate, after: &Certificate) {
        let expression = match after.user_id {
            Some(_) => "SET card = :card",
            None => "SET card = :card REMOVE authoredPk, authoredSk, duePk, dueAt",
        };
        let update = Write::at(&keys::certificate(&after.snapshot.code))
            .when("card.version = :version")
            .number(":version", before.version)
            .expression(expression)
            .value(":card", after);
        self.update(Part::Certificate, update);
    }
}
