//! Confirmed people are reminded of their course, and told when its dates or places change.

use std::time::Duration;

use background::AT_ONCE;
use domain::{
    CourseId, Instant, UserId,
    attendance::{Announcement, AnnouncementNotice, Announcements, Position},
    registration::{Registration, RegistrationState},
    user::User,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use runtime::Error;
use store::{CourseTerms, RegistrationOrder, with_deadline};
use tokio::time::Instant as Monotonic;

use crate::{Services, Worker};

/// How long one run queues messages: no course holds up the others. What is left is due at once.
const RUN: Duration = Duration::from_secs(4);
/// Registrations that are read at once, with their accounts.
const PAGE: u16 = 25;

impl Worker {
    /// Makes the announcements of the course `id` that are due, and those to come due in their time.
    pub(crate) async fn announce(&self, id: CourseId) -> Result<(), Error> {
        let ends = Monotonic::now() + RUN;
        with_deadline(RUN, self.announce_until(id, ends)).await
    }

    async fn announce_until(&self, id: CourseId, ends: Monotonic) -> Result<(), Error> {
        let Services { store, clock, zone, .. } = &*self.0;
        loop {
            let now = clock.now();
            // Before the course, whose changes are counted here.
            let state = store.announcements(id).await?;
            let Some(terms) = store.course_terms(id).await? else {
                return Ok(());
            };
            let (course, schedule) = (&terms.course.summary, terms.schedule());
            let Some(announcement) = state.due(course, &schedule, zone, now) else {
                let next = state.next(course, &schedule, zone, now);
                return Ok(store.schedule_announcements(id, &state, next).await?);
            };
            // Changes that were undone are nothing to tell.
            let former = state.former.as_ref();
            let is_void = matches!(announcement, Announcement::Change(_))
                && former.is_none_or(|former| former.is_told_as(&schedule, now));
            if !is_void && let Some(after) = self.tell(&terms, &state, announcement, ends).await? {
                let position = Position { announcement, after };
                return Ok(store.continue_announcement(id, &state, &position, now).await?);
            }
            store.finish_announcement(id, &state, announcement).await?;
        }
    }

    /// Queues the messages with `announcement` to confirmed people, from where `state` is. Returns where it goes on, if the run
    /// ends before the last of them.
    async fn tell(
        &self,
        terms: &CourseTerms,
        state: &Announcements,
        announcement: Announcement,
        ends: Monotonic,
    ) -> Result<Option<String>, Error> {
        let Services { store, clock, .. } = &*self.0;
        let id = terms.course.summary.course_id;
        let (states, order) = (&[RegistrationState::Confirmed], RegistrationOrder::Number);
        let begun = state.position.as_ref().filter(|begun| begun.announcement == announcement);
        let mut position = begun.map(|begun| begun.after.clone());
        loop {
            let page = store.registrations(id, states, &order, position.as_deref(), PAGE).await?;
            let users: Vec<UserId> = page.items.iter().map(|card| card.user_id).collect();
            // The list may be older.
            let mut registrants = store.registrants(id, &users).await?;
            registrants.retain(|(registration, user)| {
                user.is_active && concerns(announcement, registration)
            });
            let now = clock.now();
            let queued: Vec<_> =
                registrants.iter().map(|one| self.tell_one(announcement, one, now)).collect();
            stream::iter(queued).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            match page.last {
                Some(after) if Monotonic::now() >= ends => return Ok(Some(after)),
                None => return Ok(None),
                last => position = last,
            }
        }
    }

    async fn tell_one(
        &self,
        announcement: Announcement,
        (registration, user): &(Registration, User),
        now: Instant,
    ) -> Result<(), Error> {
        let Services { store, outbox, .. } = &*self.0;
        let card = &registration.card;
        let notice = AnnouncementNotice {
            course_id: card.course_id,
            number: card.number,
            announcement,
            language: card.language.clone(),
        };
        let message = outbox.notify_announcement(user, notice, now)?;
        Ok(store.send_once(&message).await?)
    }
}

/// Whether the person of `registration` gets `announcement`: they are confirmed, and were before it was due.
fn concerns(announcement: Announcement, registration: &Registration) -> bool {
    registration.card.state == RegistrationState::Confirmed
        && registration.details.confirmed_at.is_some_and(|at| at < announcement.concerns_since())
}
