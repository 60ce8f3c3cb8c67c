//! Those who may decide on registrations for a course are told how many wait.

use domain::{Profile, course::CourseSummary, registration::next_requests_message, user::User};
use runtime::Error;
use store::{CommitOutcome, StoreError};

use super::{Course, Left, PAGE};
use crate::{Services, Worker};

impl Worker {
    /// Queues a mail to each of them, at most one an hour. What comes after it is told in the next hour.
    pub(super) async fn tell_deciders(&self, course: &Course) -> Result<Left, Error> {
        let Services { store, outbox, .. } = &*self.0;
        let Course { terms, seats, now, .. } = course;
        let summary = &terms.course.summary;
        let mut is_told = true;
        for user in self.deciders(summary).await? {
            let mut tx = store.transaction();
            tx.send_at_rate(&outbox.notify_requests(&user, summary, *now)?);
            is_told &= tx.commit().await? == CommitOutcome::Committed;
        }
        if !is_told {
            return Ok(Left::Until(Some(next_requests_message(*now))));
        }
        store.requests_told(summary.course_id, seats).await?;
        Ok(Left::ReadAgain)
    }

    /// The creator of `course`; when they may not write it any more, the admins of its committee.
    async fn deciders(&self, course: &CourseSummary) -> Result<Vec<User>, StoreError> {
        let store = &self.0.store;
        let creator = store.user(course.created_by).await?;
        let creator: Vec<User> =
            creator.into_iter().filter(|user| course.is_decided_by(user)).collect();
        if !creator.is_empty() {
            return Ok(creator);
        }
        let is_admin =
            |user: &User| user.profile == Profile::CommitteeAdmin && course.is_decided_by(user);
        let (mut admins, mut position) = (Vec::new(), None);
        loop {
            let committee = course.committee_id;
            let page = store.users(committee, position.as_deref(), PAGE, Some(is_admin)).await?;
            admins.extend(page.items);
            position = page.last;
            if position.is_none() {
                return Ok(admins);
            }
        }
    }
}
