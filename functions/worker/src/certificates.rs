//! Certificates of erased people, and those whose retention is over, become anonymous.

use domain::{UserId, certificate::Certificate};
use runtime::Error;

use crate::{Services, Worker};

/// Certificates that one step reads.
const PAGE: u16 = 25;

impl Worker {
    /// Makes a page of the certificates of the erased user `id` anonymous. Returns whether there are more.
    pub(crate) async fn anonymise_certificates(&self, id: UserId) -> Result<bool, Error> {
        let page = self.0.store.certificates_of(id, None, PAGE).await?;
        for certificate in &page.items {
            self.anonymise(certificate).await?;
        }
        Ok(page.last.is_some())
    }

    /// Makes the certificate `code` anonymous if its retention is over.
    pub(crate) async fn forget_certificate(&self, code: &str) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let Ok(code) = code.parse() else {
            return Ok(());
        };
        match store.certificate_to_forget(&code, clock.now()).await? {
            Some(certificate) => self.anonymise(&certificate).await,
            None => Ok(()),
        }
    }

    async fn anonymise(&self, certificate: &Certificate) -> Result<(), Error> {
        let mut tx = self.0.store.transaction();
        tx.change_certificate(certificate, &certificate.anonymised());
        Ok(tx.commit().await?.or_conflict()?)
    }
}
