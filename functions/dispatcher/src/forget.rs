//! Deletes the data of erased users.

use domain::{
    UserId,
    course::{Course, CourseDetails, State},
    user::{DEFAULT_AVATAR, avatar_key},
};
use futures_util::{StreamExt, stream};
use runtime::Error;
use store::{CommitOutcome, CourseList, StoreError};

use crate::{AT_ONCE, Dispatcher, Services};

/// Items in one page of files, courses, batches or messages.
const PAGE: u16 = 100;

impl Dispatcher {
    /// Erases a user who was not verified in time. Deletes the files, text messages, login activity, sessions, known
    /// devices and avatar of an erased user. Their courses belong to the committee and are kept with the contact details
    /// of the committee. The avatar comes last: if S3 fails, all other data is already deleted.
    pub(crate) async fn delete_user_data(&self, id: UserId) -> Result<(), Error> {
        let Services {
            store,
            objects,
            clock,
            ..
        } = &*self.0;
        store.erase_unverified(id, clock.now()).await?;
        let Some(user) = store.erased_user(id, clock.now()).await? else {
            return Ok(());
        };
        self.discard_files(id).await?;
        self.replace_contacts(id).await?;
        self.delete_sms(id).await?;
        while store.delete_login_activity(id).await? {}
        while store.delete_sessions(id).await? {}
        store.delete_devices(id).await?;
        if user.avatar != DEFAULT_AVATAR {
            objects.delete(avatar_key(&user.avatar)).await?;
        }
        Ok(store.finish_erasure(&user, clock.now()).await?)
    }

    async fn discard_files(&self, id: UserId) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let mut position = None;
        loop {
            let page = store.files(id, position.as_deref(), PAGE).await?;
            for listed in page.items {
                // The list is eventually consistent.
                let Some(file) = store.file(listed.file_id).await? else {
                    continue;
                };
                if !store.discard_file(&file, clock.now()).await? {
                    return Err(StoreError::TransactionConflict.into());
                }
            }
            position = page.last;
            if position.is_none() {
                return Ok(());
            }
        }
    }

    /// Deletes batches with their chunks, and messages; queued ones are not sent. Fails while a message is being
    /// sent, so that the erasure is retried.
    async fn delete_sms(&self, id: UserId) -> Result<(), Error> {
        let store = &self.0.store;
        let mut position = None;
        loop {
            let page = store.batches_of(id, position.as_deref(), PAGE).await?;
            for batch in page.items {
                let mut tx = store.transaction();
                tx.delete_batch(&batch);
                let _ = tx.commit().await?;
            }
            position = page.last;
            if position.is_none() {
                break;
            }
        }
        loop {
            let page = store.sms_of(id, position.as_deref(), PAGE).await?;
            let deletions = stream::iter(page.items).map(|sms| async move {
                let mut tx = store.transaction();
                tx.delete_sms(sms.sms_id);
                if tx.commit().await? == CommitOutcome::Committed {
                    Ok(())
                } else {
                    Err(StoreError::TransactionConflict)
                }
            });
            deletions
                .buffer_unordered(AT_ONCE)
                .collect::<Vec<_>>()
                .await
                .into_iter()
                .collect::<Result<(), _>>()?;
            position = page.last;
            if position.is_none() {
                return Ok(());
            }
        }
    }

    async fn replace_contacts(&self, id: UserId) -> Result<(), Error> {
        let lists: Vec<CourseList> = State::ALL
            .iter()
            .map(|state| CourseList::OfAuthor(id, *state))
            .collect();
        let mut position = None;
        loop {
            let page = self
                .0
                .store
                .courses(&lists, position.as_deref(), PAGE)
                .await?;
            for course in page.items {
                self.replace_contact(course).await?;
            }
            position = page.last;
            if position.is_none() {
                return Ok(());
            }
        }
    }

    /// Replaces the contact details of a course by those of its committee.
    async fn replace_contact(&self, listed: Course) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let Some(before) = store.course(listed.outline.course_id).await? else {
            return Ok(());
        };
        let Some(committee) = store.committee(before.outline.committee_id).await? else {
            return Ok(());
        };
        let old = &before.details;
        if old.contact_person.is_none()
            && old.contact_phone.is_none()
            && old.contact_email.is_none()
        {
            return Ok(());
        }
        let details = CourseDetails {
            description: old.description.clone(),
            contact_person: None,
            contact_phone: old.contact_phone.as_ref().map(|_| committee.primary_phone),
            contact_email: Some(committee.primary_email),
        };
        if details == *old {
            return Ok(());
        }
        let after = before.changed(clock.now(), |course| course.details = details);
        let mut tx = store.transaction();
        tx.change_course(&before.outline, &after);
        if tx.commit().await? == CommitOutcome::Committed {
            Ok(())
        } else {
            Err(StoreError::TransactionConflict.into())
        }
    }
}
