//! What is left of people who were erased.

use domain::{
    UserId,
    course::{Course, Details, State},
    user::{DEFAULT_AVATAR, avatar_key},
};
use futures_util::{StreamExt, stream};
use runtime::Error;
use store::{CommitOutcome, CourseList, StoreError};

use crate::{AT_ONCE, Dispatcher, Powers};

/// How many files or courses are looked at in one go.
const PAGE: u16 = 100;

impl Dispatcher {
    /// Removes the files, the text messages, the sign-ins, the sessions and the picture of a person who was
    /// erased, and what his courses say of whom to ask: they stay, for they are his committee's, and so is the
    /// address from then on. The bucket comes last: what everybody sees goes whatever it says.
    pub(crate) async fn forget(&self, id: UserId) -> Result<(), Error> {
        let Powers {
            store,
            objects,
            clock,
            ..
        } = &*self.0;
        let Some(user) = store.erased_user(id, clock.now()).await? else {
            return Ok(());
        };
        self.give_up_files(id).await?;
        self.take_over_courses(id).await?;
        self.forget_sms(id).await?;
        while store.forget_login_activity(id).await? {}
        while store.forget_sessions(id).await? {}
        if user.avatar != DEFAULT_AVATAR {
            objects.delete(avatar_key(&user.avatar)).await?;
        }
        Ok(store.settle_erased(&user, clock.now()).await?)
    }

    async fn give_up_files(&self, id: UserId) -> Result<(), Error> {
        let Powers { store, clock, .. } = &*self.0;
        let mut position = None;
        loop {
            let page = store.files(id, position.as_deref(), PAGE).await?;
            for listed in page.items {
                // The list may be late.
                let Some(file) = store.file(listed.file_id).await? else {
                    continue;
                };
                if !store.give_up_file(&file, clock.now()).await? {
                    return Err(StoreError::TransactionConflict.into());
                }
            }
            position = page.last;
            if position.is_none() {
                return Ok(());
            }
        }
    }

    /// What waits is not sent any more. A message that is on its way at this moment is looked for again when
    /// it has come somewhere.
    async fn forget_sms(&self, id: UserId) -> Result<(), Error> {
        let store = &self.0.store;
        let mut position = None;
        loop {
            let page = store.batches_of(id, position.as_deref(), PAGE).await?;
            for batch in page.items {
                let mut forget = store.transaction();
                forget.forget_batch(&batch);
                let _ = forget.commit().await?;
            }
            position = page.last;
            if position.is_none() {
                break;
            }
        }
        loop {
            let page = store.sms_of(id, position.as_deref(), PAGE).await?;
            let forgotten = stream::iter(page.items).map(|sms| async move {
                let mut forget = store.transaction();
                forget.forget_sms(sms.sms_id);
                if forget.commit().await? == CommitOutcome::Committed {
                    Ok(())
                } else {
                    Err(StoreError::TransactionConflict)
                }
            });
            forgotten
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

    async fn take_over_courses(&self, id: UserId) -> Result<(), Error> {
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
                self.take_over(course).await?;
            }
            position = page.last;
            if position.is_none() {
                return Ok(());
            }
        }
    }

    /// Whoever asks about the course asks the committee from now on.
    async fn take_over(&self, listed: Course) -> Result<(), Error> {
        let Powers { store, clock, .. } = &*self.0;
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
        let details = Details {
            description: old.description.clone(),
            contact_person: None,
            contact_phone: old.contact_phone.as_ref().map(|_| committee.primary_phone),
            contact_email: Some(committee.primary_email),
        };
        if details == *old {
            return Ok(());
        }
        let after = before.changed(clock.now(), |course| course.details = details);
        let mut take_over = store.transaction();
        take_over.change_course(&before.outline, &after);
        if take_over.commit().await? == CommitOutcome::Committed {
            Ok(())
        } else {
            Err(StoreError::TransactionConflict.into())
        }
    }
}
