//! What follows from the seats of a course: promotes people who wait, ends registrations of a course that is cancelled or
//! begins, and deletes personal data when its time is over. Nothing else promotes people, so that their order is kept.
//!
//! All of it is done in pieces of at most a few seconds, so that no course holds up the others: what is left is due at once.

use std::{collections::BTreeMap, time::Duration};

use background::AT_ONCE;
use domain::{
    CommitteeId, CourseId, Instant, UserId,
    course::{CourseState, CourseSummary},
    registration::{
        Cleanup, Party, Registration, RegistrationCard, RegistrationEvent, RegistrationNotice,
        RegistrationState,
        RegistrationState::{Cancelled, Confirmed, Expired, Pending, Waitlisted},
        Seats,
    },
    user::User,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use runtime::Error;
use store::{
    CommitOutcome, CourseList, CourseTerms, RegistrationOrder, SeatRule, StoreError, Waiting,
    within,
};
use tokio::time::Instant as Monotonic;

use crate::{Services, Worker};

/// How long one piece of work begins transactions.
const PIECE: Duration = Duration::from_secs(4);
/// Registrations that are read at once, with their accounts.
const PAGE: u16 = 50;
/// Registrations that one transaction moves. Each has four parts at most, and a transaction a hundred
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
const MOVES: usize = 24;
/// Registrations of an erased person, each for a course of its own, that one piece of work changes.
const ERASED: u16 = 25;
/// How long personal data of registrations is kept after the end of a course.
pub(crate) struct Retention {
    pub(crate) answers: Duration,
    pub(crate) cards: Duration,
}

/// Registrations of people with active accounts, as they were read.
type Registrants = Vec<(Registration, User)>;

impl Worker {
    /// Does what is left to do with the seats of the course `id`, and makes them due when there will be more.
    pub(crate) async fn process_seats(&self, id: CourseId) -> Result<(), Error> {
        let ends = Monotonic::now() + PIECE;
        within(PIECE, self.process_seats_until(id, ends)).await
    }

    async fn process_seats_until(&self, id: CourseId, ends: Monotonic) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        loop {
            let now = clock.now();
            // Before the course, whose changes raise the revision.
            let seats = store.seats(id).await?;
            let Some(terms) = store.course_terms(id).await? else {
                return Ok(());
            };
            let has_more = match ending(&terms, &seats, now) {
                Some(ending) => {
                    self.end_registrations(&terms, &ending, ends).await?;
                    true
                }
                None => self.promote(&terms, &seats, now).await?,
            };
            if has_more && Monotonic::now() < ends {
                continue;
            }
            let course = &terms.course.summary;
            let (next, cleanup) = if has_more {
                (Some(now), None)
            } else {
                self.next_work(course, &seats, now, ends).await?
            };
            return Ok(store.reschedule_seats(id, &seats, next, cleanup.as_ref()).await?);
        }
    }

    /// Deletes data whose time is over, and returns when something is to do next if nobody changes the seats: when those who
    /// wait lose their registrations, and when the time of answers and cards is over, or at once to go on with the deletion.
    /// `None` if no one ever registered.
    async fn next_work(
        &self,
        course: &CourseSummary,
        seats: &Seats,
        now: Instant,
        ends: Monotonic,
    ) -> Result<(Option<Instant>, Option<Cleanup>), Error> {
        if seats.registered == 0 {
            return Ok((None, None));
        }
        let Retention { answers, cards } = self.0.retention;
        let end = course.end().unwrap_or(course.updated_at);
        let (old, cleanup) = self.delete_old_data(course, seats, now, ends).await?;
        if cleanup.is_some() {
            return Ok((Some(now), cleanup));
        }
        let expiry = seats.expiry(course).filter(|_| seats.waiting + seats.pending > 0);
        let times = [expiry, Some(end.after(answers)), Some(end.after(cards))];
        let next = times.into_iter().flatten().filter(|time| *time > now).chain(old).min();
        Ok((next, None))
    }

    /// Promotes the first people who wait and whose accounts are active, if seats are free and promotion is allowed. Returns
    /// whether there may be more to do.
    async fn promote(
        &self,
        terms: &CourseTerms,
        seats: &Seats,
        now: Instant,
    ) -> Result<bool, Error> {
        let store = &self.0.store;
        let course = &terms.course.summary;
        let is_allowed = course.state == CourseState::Published
            && terms.settings.cancelled_at.is_none()
            && !course.has_started(now);
        if !is_allowed || !seats.has_room() || seats.waiting == 0 {
            return Ok(false);
        }
        let free = seats.free().map_or(MOVES, |free| MOVES.min(free as usize));
        let (committee, mut first) = tokio::try_join!(
            store.committee(course.committee_id),
            self.first_waiting(course.course_id, free)
        )?;
        if first.is_empty() || committee.is_none_or(|committee| !committee.is_active) {
            return Ok(false);
        }
        first.truncate(free);
        let promoted = |before: &Registration| before.moved(Confirmed, Party::System, None, now);
        let (capacity, revision) = (seats.capacity, seats.revision);
        let rule = SeatRule::Promotion { capacity, revision };
        // If a condition has failed, the next step reads again.
        self.commit_moves(terms, &first, (rule, RegistrationEvent::Promoted), promoted).await?;
        Ok(true)
    }

    /// The first people on the waiting list whose accounts are active: all, or at least `count`.
    async fn first_waiting(&self, id: CourseId, count: usize) -> Result<Registrants, StoreError> {
        let store = &self.0.store;
        let (mut found, mut position) = (Vec::new(), None);
        loop {
            let page = store.waiting_list(id, position.as_deref(), PAGE).await?;
            let place = |one: Waiting| Some((one.user_id, one.number()?));
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

    /// Ends registrations for a course that is cancelled, or that has started while they waited, until none is listed or the
    /// time of this piece of work `ends`.
    async fn end_registrations(
        &self,
        terms: &CourseTerms,
        ending: &Ending,
        ends: Monotonic,
    ) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let id = terms.course.summary.course_id;
        let (order, mut position, mut has_ended) = (RegistrationOrder::Number, None, false);
        loop {
            let page =
                store.registrations(id, ending.states, &order, position.as_deref(), PAGE).await?;
            let users: Vec<UserId> = page.items.iter().map(|card| card.user_id).collect();
            let mut registrants = store.registrants(id, &users).await?;
            registrants.retain(|(one, _)| ending.states.contains(&one.card.state));
            for some in registrants.chunks(MOVES) {
                let now = clock.now();
                let ended = |before: &Registration| match ending.event {
                    RegistrationEvent::CourseCancelled => {
                        let reason = terms.settings.cancel_reason.clone();
                        before.moved(Cancelled, Party::Committee, reason, now)
                    }
                    _ => before.moved(Expired, Party::System, None, now),
                };
                let rule = (SeatRule::Ending { revision: ending.revision }, ending.event);
                if !self.commit_moves(terms, some, rule, ended).await? {
                    // Something has changed since it was read.
                    return Ok(());
                }
                has_ended = true;
            }
            position = page.last;
            if position.is_none() || Monotonic::now() >= ends {
                break;
            }
        }
        // The index does not list yet who is left.
        if has_ended { Ok(()) } else { Err(StoreError::UpdateConflict.into()) }
    }

    /// Moves the registrations of `some` people in one transaction, with their messages. Returns whether it did, or something
    /// has changed since it was read.
    async fn commit_moves(
        &self,
        terms: &CourseTerms,
        some: &[(Registration, User)],
        (rule, event): (SeatRule, RegistrationEvent),
        moved: impl Fn(&Registration) -> Registration,
    ) -> Result<bool, Error> {
        let Services { store, outbox, .. } = &*self.0;
        let (course, settings) = (&terms.course.summary, &terms.settings);
        let after: Vec<Registration> =
            some.iter().map(|(before, user)| moved(&before.named(user))).collect();
        let moves: Vec<_> =
            some.iter().zip(&after).map(|((before, _), after)| (Some(before), after)).collect();
        let mut tx = store.transaction();
        tx.move_registrations(course.course_id, &moves, rule, u64::MAX);
        for ((_, user), after) in some.iter().zip(&after) {
            let notice = RegistrationNotice::new(event, after, course, settings, user);
            tx.send_in_turn(&outbox.notify_registration(
                user,
                after,
                notice,
                after.card.updated_at,
            )?);
        }
        match tx.commit().await {
            // Newcomers change the same seats all the time.
            Err(StoreError::TransactionConflict) => Ok(false),
            outcome => Ok(outcome? == CommitOutcome::Committed),
        }
    }

    /// Deletes the answers, and later the personal data, of registrations whose time is over: it begins with the end of the
    /// course, without one with its last change, but not before the registration. Every step can be repeated. Returns when the
    /// time of the next one is over, and how far it has come if there are more once the time of this piece of work `ends`.
    async fn delete_old_data(
        &self,
        course: &CourseSummary,
        seats: &Seats,
        now: Instant,
        ends: Monotonic,
    ) -> Result<(Option<Instant>, Option<Cleanup>), Error> {
        let Retention { answers, cards } = self.0.retention;
        let first = course.end().unwrap_or(course.updated_at);
        if now < first.after(answers) {
            return Ok((None, None));
        }
        let begin = |card: &RegistrationCard| first.max(card.created_at);
        let store = &self.0.store;
        let order = RegistrationOrder::Number;
        let begun = seats.cleanup.clone();
        let mut next = begun.as_ref().and_then(|cleanup| cleanup.next);
        let mut position = begun.map(|cleanup| cleanup.after);
        loop {
            let (id, states) = (course.course_id, &RegistrationState::ALL);
            let page = store.registrations(id, states, &order, position.as_deref(), PAGE).await?;
            let is_old = |card: &RegistrationCard| {
                begin(card).after(answers) <= now && !card.answered.is_empty()
                    || begin(card).after(cards) <= now && !card.is_anonymous
            };
            let times = page.items.iter();
            let times = times.flat_map(|card| [answers, cards].map(|time| begin(card).after(time)));
            next = times.filter(|time| *time > now).chain(next).min();
            let old = page.items.into_iter().filter(is_old);
            let cleared = stream::iter(old).map(|card| async move {
                let Some(before) = store.registration(id, card.user_id).await? else {
                    return Ok(());
                };
                self.clear(&before, begin(&card).after(cards) <= now, now).await
            });
            cleared.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            match page.last {
                Some(after) if Monotonic::now() >= ends => {
                    return Ok((next, Some(Cleanup { after, next })));
                }
                None => return Ok((next, None)),
                last => position = last,
            }
        }
    }

    /// Cancels a page of the registrations of the erased user `id`, which frees their seats, and deletes the personal data
    /// in them. Returns whether there are more.
    pub(crate) async fn erase_registrations(&self, id: UserId) -> Result<bool, Error> {
        let Services { store, clock, .. } = &*self.0;
        let page = store.registrations_of(id, &RegistrationState::ALL, None, ERASED).await?;
        for listed in page.items {
            let (course, now) = (listed.card.course_id, clock.now());
            let Some(mut before) = store.registration(course, id).await? else {
                continue;
            };
            if before.card.state.is_active() {
                let after = before.moved(Cancelled, Party::System, None, now);
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

    /// Makes the seats of all courses that the user `id` waits for due: their account is active again.
    pub(crate) async fn promote_where_waiting(&self, id: UserId) -> Result<(), Error> {
        let store = &self.0.store;
        let Some(reactivation) = store.reactivation(id).await? else {
            return Ok(());
        };
        self.wake_seats(reactivation.courses.clone()).await?;
        Ok(store.finish_reactivation(&reactivation).await?)
    }

    /// Makes the seats of a page of the published courses of the committee `id`, which is active again, due.
    pub(crate) async fn promote_in_committee(&self, id: CommitteeId) -> Result<(), Error> {
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

    async fn clear(
        &self,
        before: &Registration,
        is_anonymous: bool,
        now: Instant,
    ) -> Result<(), Error> {
        let is_cleared = before.card.answered.is_empty();
        let after = match is_anonymous {
            true if before.card.is_anonymous && is_cleared => return Ok(()),
            true => before
                .anonymised(now)
                .map_err(|_| "the names of an erased account are malformed")?,
            false if is_cleared => return Ok(()),
            false => before.changed(now, |after| after.card.answered.clear()),
        };
        let mut tx = self.0.store.transaction();
        tx.clear_registration(before, &after, is_anonymous);
        Ok(tx.commit().await?.or_conflict()?)
    }
}

/// How the registrations for a course end.
struct Ending {
    /// Those that end.
    states: &'static [RegistrationState],
    event: RegistrationEvent,
    /// [`Seats::revision`]: neither a date nor the state of the course has changed since they were decided on.
    revision: u64,
}

/// Whether registrations for the course end at `now`, because it is cancelled or has begun.
fn ending(terms: &CourseTerms, seats: &Seats, now: Instant) -> Option<Ending> {
    let revision = seats.revision;
    let has_expired = seats.expiry(&terms.course.summary).is_some_and(|expiry| expiry <= now);
    if terms.settings.cancelled_at.is_some() && seats.active() > 0 {
        let (states, event) = (&RegistrationState::ACTIVE, RegistrationEvent::CourseCancelled);
        Some(Ending { states, event, revision })
    } else if has_expired && seats.waiting + seats.pending > 0 {
        let event = RegistrationEvent::Expired;
        Some(Ending { states: &[Pending, Waitlisted], event, revision })
    } else {
        None
    }
}
