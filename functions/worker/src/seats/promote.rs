//! People on the waiting list get free seats, in their order. Only an approval with an added seat also promotes.

use std::collections::BTreeMap;

use background::AT_ONCE;
use domain::{
    CommitteeId, CourseId, UserId,
    course::CourseState,
    registration::{
        Party, Registration, RegistrationEvent,
        RegistrationState::{Confirmed, Waitlisted},
    },
    user::User,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use runtime::Error;
use store::{CourseList, SeatRule, StoreError, WaitingPerson};

use super::{Course, Left, MOVES, Move, PAGE};
use crate::{Services, Worker};

impl Worker {
    /// Promotes the first people who wait and whose accounts are active, if the committee is.
    pub(super) async fn promote(&self, course: &Course) -> Result<Left, Error> {
        let store = &self.0.store;
        let Course { terms, seats, now, .. } = course;
        let summary = &terms.course.summary;
        let free = seats.free().map_or(MOVES, |free| MOVES.min(free as usize));
        let (committee, first) = tokio::try_join!(
            store.committee(summary.committee_id),
            self.first_waiting(summary.course_id, free)
        )?;
        if first.is_empty() || committee.is_none_or(|committee| !committee.is_active) {
            return Ok(Left::Until(None));
        }
        let promoted = first.iter().take(free).map(|(before, user)| {
            let after = before.named(user).moved(Confirmed, Party::System, None, *now);
            Move { before, after, user }
        });
        let moves: Vec<Move<'_>> = promoted.collect();
        let rule = SeatRule::Promotion { capacity: seats.capacity, revision: seats.revision };
        // If a condition has failed, the next step reads again.
        self.commit_moves(terms, &moves, rule, RegistrationEvent::Promoted).await?;
        Ok(Left::ReadAgain)
    }

    /// The first people on the waiting list whose accounts are active: all, or at least `count`.
    async fn first_waiting(
        &self,
        id: CourseId,
        count: usize,
    ) -> Result<Vec<(Registration, User)>, StoreError> {
        let store = &self.0.store;
        let (mut found, mut position) = (Vec::new(), None);
        loop {
            let page = store.waiting_list(id, position.as_deref(), PAGE).await?;
            let place = |one: WaitingPerson| Some((one.user_id, one.number()?));
            let places: BTreeMap<UserId, u64> = page.items.into_iter().filter_map(place).collect();
            let users: Vec<UserId> = places.keys().copied().collect();
            let mut registrants = store.registrants(id, &users).await?;
            // A person may have left the list and joined it again since it was read.
            registrants.retain(|(one, user)| {
                let has_place = places.get(&user.user_id) == Some(&one.card.number);
                has_place && one.card.state == Waitlisted && user.is_active
            });
            registrants.sort_unstable_by_key(|(one, _)| one.card.number);
            found.append(&mut registrants);
            position = page.last;
            if found.len() >= count || position.is_none() {
                return Ok(found);
            }
        }
    }

    /// Makes the seats of all courses that the user `id` waits for due: their account is active again.
    pub(crate) async fn wake_where_waiting(&self, id: UserId) -> Result<(), Error> {
        let store = &self.0.store;
        let Some(reactivation) = store.reactivation(id).await? else {
            return Ok(());
        };
        self.wake_seats(reactivation.courses.clone()).await?;
        Ok(store.finish_reactivation(&reactivation).await?)
    }

    /// Makes the seats of a page of the published courses of the committee `id`, which is active again, due.
    pub(crate) async fn wake_in_committee(&self, id: CommitteeId) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let Some(reopening) = store.reopening(id).await? else {
            return Ok(());
        };
        let list = &[CourseList::OfCommittee(id, CourseState::Published)];
        let page = store.courses(list, reopening.position.as_deref(), PAGE).await?;
        let mut courses = page.items;
        if page.last.is_none() && reopening.position.is_some() {
            // Those that were changed meanwhile have moved in front of the pages that were left.
            courses.extend(store.courses(list, None, PAGE).await?.items);
        }
        let courses = courses.iter().map(|course| course.summary.course_id).collect();
        self.wake_seats(courses).await?;
        Ok(store.continue_reopening(&reopening, page.last, clock.now()).await?)
    }

    async fn wake_seats(&self, courses: Vec<CourseId>) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let woken = stream::iter(courses)
            .map(|course| async move { store.wake_seats(course, clock.now()).await.map(|_| ()) });
        Ok(woken.buffer_unordered(AT_ONCE).try_collect::<()>().await?)
    }
}
