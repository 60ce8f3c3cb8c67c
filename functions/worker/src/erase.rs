//! Deletes the data of erased users, in steps: one with a hundred thousand messages must not keep other work waiting.

use background::AT_ONCE;
use domain::{
    UserId,
    course::{Course, CourseState},
    registration::{Party, RegistrationState},
    user::{DEFAULT_AVATAR, FormerContact, avatar_key},
};
use futures_util::{StreamExt, stream};
use runtime::Error;
use store::{CommitOutcome, CourseList, CoursesLeft, Erasure, SeatRule, StoreError};

use crate::{Services, Worker};

/// Items of each kind that one step reads at most: files, courses, batches, and twice as many messages.
const PAGE: u16 = 100;
/// Registrations, each for a course of its own, that one step reads.
const REGISTRATIONS_PAGE: u16 = 25;
/// Pages of messages in one step.
const SMS_PAGES: usize = 2;

impl Worker {
    /// Erases a user who was not verified in time. Does one step of the deletion of an erased user's files, texts
    /// of messages, login activity, sessions, known devices, passkeys and avatar. What is left stays due, and the change of the
    /// user's item brings the next stream record. Their courses belong to the committee and are kept, with the committee's
    /// contact details in place of their own. The avatar comes last: if S3 fails, all other data is already deleted.
    pub(crate) async fn delete_user_data(&self, id: UserId) -> Result<(), Error> {
        let Services { store, bucket, clock, .. } = &*self.0;
        store.erase_unverified(id, clock.now()).await?;
        let Some(erasure) = store.erasure(id, clock.now()).await? else {
            return Ok(());
        };
        let has_files = self.discard_files(id).await?;
        let courses = self.replace_contacts(&erasure).await?;
        let has_registrations = self.erase_registrations(id).await?;
        let has_certificates = self.anonymise_certificates(id).await?;
        let has_sms = self.delete_texts(id).await?;
        let has_activity = store.delete_login_activity(id).await?;
        let has_sessions = store.delete_sessions(id).await?;
        let has_lists = has_files || has_registrations || has_certificates || has_sms;
        if has_lists || courses != CoursesLeft::None || has_activity || has_sessions {
            return Ok(store.continue_erasure(&erasure, &courses, clock.now()).await?);
        }
        store.delete_devices(id).await?;
        store.delete_passkeys(&store.passkeys(id).await?).await?;
        if erasure.user.avatar != DEFAULT_AVATAR {
            bucket.delete(avatar_key(&erasure.user.avatar)).await?;
        }
        Ok(store.finish_erasure(&erasure, clock.now()).await?)
    }

    /// Discards a page of files. Returns whether there are more.
    async fn discard_files(&self, id: UserId) -> Result<bool, Error> {
        let Services { store, clock, .. } = &*self.0;
        let page = store.files(id, None, PAGE).await?;
        for listed in page.items {
            // The list is eventually consistent.
            let Some(file) = store.file(listed.file_id).await? else {
                continue;
            };
            if !store.discard_file(&file, clock.now()).await? {
                return Err(StoreError::TransactionConflict.into());
            }
        }
        Ok(page.last.is_some())
    }

    /// Cancels a page of the registrations of the erased user `id`, which frees their seats, and deletes the personal data
    /// in them. Returns whether there are more.
    async fn erase_registrations(&self, id: UserId) -> Result<bool, Error> {
        let Services { store, clock, .. } = &*self.0;
        let all = &RegistrationState::ALL;
        let page = store.registrations_of(id, all, None, REGISTRATIONS_PAGE).await?;
        for listed in page.items {
            let (course, now) = (listed.card.course_id, clock.now());
            let Some(mut before) = store.registration(course, id).await? else {
                continue;
            };
            if before.card.state.is_active() {
                let after = before.moved(RegistrationState::Cancelled, Party::System, None, now);
                let mut tx = store.transaction();
                let moves = [(Some(&before), &after)];
                tx.move_registrations(course, &moves, SeatRule::None, u64::MAX);
                tx.commit().await?.or_conflict()?;
                before = after;
            }
            self.clear(&before, true, now).await?;
        }
        Ok(page.last.is_some())
    }

    /// Deletes the texts of a page of batches, with their chunks, and of some pages of messages. The records stay with the
    /// committee; messages that are still queued fail, because their sender's account is closed. Returns whether there are
    /// more.
    async fn delete_texts(&self, id: UserId) -> Result<bool, Error> {
        let store = &self.0.store;
        let batches = store.batches_of(id, None, PAGE).await?;
        for batch in batches.items {
            let mut tx = store.transaction();
            tx.disown_batch(&batch);
            let _ = tx.commit().await?;
        }
        let mut position = None;
        for _ in 0..SMS_PAGES {
            let page = store.sms_of(id, position.as_deref(), PAGE).await?;
            let changes = stream::iter(page.items).map(|sms| async move {
                let mut tx = store.transaction();
                tx.disown_sms(&sms);
                tx.commit().await
            });
            let changed: Vec<_> = changes.buffer_unordered(AT_ONCE).collect().await;
            changed.into_iter().try_for_each(|outcome| outcome.map(drop))?;
            position = page.last;
            if position.is_none() {
                break;
            }
        }
        Ok(batches.last.is_some() || position.is_some())
    }

    /// Replaces the person's contact details in a page of their courses. Returns what is left then.
    async fn replace_contacts(&self, erasure: &Erasure) -> Result<CoursesLeft, Error> {
        let id = erasure.user.user_id;
        let Some(person) = &erasure.user.former_contact else {
            return Ok(CoursesLeft::None);
        };
        let position = match &erasure.courses {
            CoursesLeft::All => None,
            CoursesLeft::After(position) => Some(position.as_str()),
            CoursesLeft::None => return Ok(CoursesLeft::None),
        };
        let lists: Vec<CourseList> =
            CourseState::ALL.iter().map(|state| CourseList::OfAuthor(id, *state)).collect();
        let page = self.0.store.courses(&lists, position, PAGE).await?;
        for course in page.items {
            self.replace_contact(course, person).await?;
        }
        Ok(page.last.map_or(CoursesLeft::None, CoursesLeft::After))
    }

    /// Replaces the contact details of a course that are those of `person` by those of its committee.
    async fn replace_contact(&self, listed: Course, person: &FormerContact) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let Some(before) = store.course(listed.summary.course_id).await? else {
            return Ok(());
        };
        let Some(committee) = store.committee(before.summary.committee_id).await? else {
            return Ok(());
        };
        let old = &before.details;
        let mut details = old.clone();
        if old.contact_person.as_ref().is_some_and(|name| person.is_named(name)) {
            details.contact_person = None;
        }
        if old.contact_phone.as_ref().is_some_and(|phone| person.has_phone(phone)) {
            details.contact_phone = Some(committee.primary_phone);
        }
        let is_own_address =
            old.contact_email.as_ref().is_some_and(|email| person.has_email(email));
        if is_own_address || details != *old && details.has_no_contact() {
            details.contact_email = Some(committee.primary_email);
        }
        if details == *old {
            return Ok(());
        }
        let after = before.changed(clock.now(), |course| course.details = details);
        let mut tx = store.transaction();
        tx.change_course(&before.summary, &after);
        if tx.commit().await? == CommitOutcome::Committed {
            Ok(())
        } else {
            Err(StoreError::TransactionConflict.into())
        }
    }
}
