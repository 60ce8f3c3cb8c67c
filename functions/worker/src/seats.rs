//! What follows from the seats of a course: promotes people who wait, ends registrations of a course that is cancelled or
//! begins, and deletes personal data when its time is over. Nothing else promotes people, so that their order is kept.

use std::time::Duration;

use background::AT_ONCE;
use domain::{
    CommitteeId, CourseId, Instant, UserId,
    course::{CourseState, CourseSummary},
    registration::{
        Party, Registrant, Registration, RegistrationCard, RegistrationEvent, RegistrationNotice,
        RegistrationState,
        RegistrationState::{Cancelled, Confirmed, Expired, Pending, Waitlisted},
        Seats,
    },
    user::User,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use runtime::Error;
use store::{
    CommitOutcome, CourseList, FullCourse, PersonRule, RegistrationOrder, SeatRule, StoreError,
    all_pages,
};

use crate::{Services, Worker};

/// Registrations that are read at once.
const PAGE: u16 = 100;
/// People who are promoted in one step. Each promotion changes the seats, and that record starts the next step.
const STEP: usize = 20;
/// How long personal data of registrations is kept after the end of a course.
pub(crate) struct Retention {
    pub(crate) answers: Duration,
    pub(crate) cards: Duration,
}

impl Worker {
    /// Does what is left to do with the seats of the course `id`, and makes them due when there will be more.
    pub(crate) async fn process_seats(&self, id: CourseId) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let now = clock.now();
        for _ in 0..STEP {
            // Before the course, whose changes raise the revision.
            let seats = store.seats(id).await?;
            let Some(full) = store.full_course(id).await? else {
                return Ok(());
            };
            let course = &full.course.summary;
            let is_over = full.settings.cancelled_at.is_some() && seats.active() > 0
                || course.has_started(now) && seats.waiting + seats.pending > 0;
            let has_more = if is_over {
                self.end_registrations(&full, now).await?;
                true
            } else {
                self.promote_first(&full, &seats, now).await?
            };
            if !has_more {
                let old = self.delete_old_data(course, now).await?;
                let next = self.next_work(course, &seats, now).into_iter().chain(old).min();
                return Ok(store.reschedule_seats(id, &seats, next).await?);
            }
        }
        Ok(())
    }

    /// When something is to do next if nobody changes the seats: at the start of the course while somebody waits, and when
    /// the time of answers and cards is over. `None` if no one ever registered.
    fn next_work(&self, course: &CourseSummary, seats: &Seats, now: Instant) -> Option<Instant> {
        if !seats.registered {
            return None;
        }
        let Retention { answers, cards } = self.0.retention;
        let end = course.end().unwrap_or(course.updated_at);
        let start = course.start_at.filter(|_| seats.waiting + seats.pending > 0);
        let times = [start, Some(end.after(answers)), Some(end.after(cards))];
        times.into_iter().flatten().filter(|time| *time > now).min()
    }

    /// Promotes the first person who waits and whose account is active, if a seat is free and promotion is allowed.
    /// Returns whether there may be more to do.
    async fn promote_first(
        &self,
        full: &FullCourse,
        seats: &Seats,
        now: Instant,
    ) -> Result<bool, Error> {
        let store = &self.0.store;
        let course = &full.course.summary;
        let is_allowed = course.state == CourseState::Published
            && full.settings.cancelled_at.is_none()
            && !course.has_started(now);
        if !is_allowed || !seats.has_room() || seats.waiting == 0 {
            return Ok(false);
        }
        let committee = store.committee(course.committee_id).await?;
        if committee.is_none_or(|committee| !committee.is_active) {
            return Ok(false);
        }
        let Some((user, before)) = self.first_waiting(course.course_id).await? else {
            return Ok(false);
        };
        let after = before.moved(Confirmed, Party::System, None, now);
        let rule = SeatRule::Promotion { revision: seats.revision };
        // If a condition has failed, the next step reads again.
        self.commit_move(full, &user, (&before, &after), rule, RegistrationEvent::Promoted).await?;
        Ok(true)
    }

    /// The first person on the waiting list whose account is active.
    async fn first_waiting(&self, id: CourseId) -> Result<Option<(User, Registration)>, Error> {
        let store = &self.0.store;
        let mut position = None;
        loop {
            let page = store.waiting_list(id, position.as_deref(), PAGE).await?;
            for waiting in page.items {
                let user = store.user(waiting.user_id).await?.filter(|user| user.is_active);
                let Some(user) = user else { continue };
                let registration = store.registration(id, waiting.user_id).await?;
                let registration = registration.filter(|one| one.card.state == Waitlisted);
                if let Some(registration) = registration {
                    return Ok(Some((user, registration)));
                }
            }
            position = page.last;
            if position.is_none() {
                return Ok(None);
            }
        }
    }

    /// Ends a page of registrations for a course that is cancelled, or that has started while they waited.
    async fn end_registrations(&self, full: &FullCourse, now: Instant) -> Result<(), Error> {
        let store = &self.0.store;
        let id = full.course.summary.course_id;
        let is_cancelled = full.settings.cancelled_at.is_some();
        let states =
            if is_cancelled { &RegistrationState::ACTIVE[..] } else { &[Pending, Waitlisted] };
        let order = RegistrationOrder::Number;
        let page = store.registrations(id, states, &order, None, PAGE).await?;
        let ended = stream::iter(page.items).map(|card| async move {
            let before = store.registration(id, card.user_id).await?;
            let Some(before) = before.filter(|one| states.contains(&one.card.state)) else {
                return Ok(false);
            };
            let Some(user) = store.user(card.user_id).await? else { return Ok(false) };
            let (after, event) = if is_cancelled {
                let reason = full.settings.cancel_reason.clone();
                let after = before.moved(Cancelled, Party::Committee, reason, now);
                (after, RegistrationEvent::CourseCancelled)
            } else {
                (before.moved(Expired, Party::System, None, now), RegistrationEvent::Expired)
            };
            self.commit_move(full, &user, (&before, &after), SeatRule::None, event).await
        });
        // The seats are in each transaction, so more at once would only conflict.
        let ended: Vec<bool> = ended.buffer_unordered(2).try_collect().await?;
        if ended.contains(&true) {
            return Ok(());
        }
        // The index does not list yet who is left.
        Err(StoreError::UpdateConflict.into())
    }

    /// Moves the registration of `user` from one state to another, with the message. Returns whether it did.
    pub(crate) async fn commit_move(
        &self,
        full: &FullCourse,
        user: &User,
        (before, after): (&Registration, &Registration),
        rule: SeatRule,
        event: RegistrationEvent,
    ) -> Result<bool, Error> {
        let Services { store, outbox, .. } = &*self.0;
        let (course, settings) = (&full.course.summary, &full.settings);
        let notice = RegistrationNotice::new(event, after, course, settings, user);
        let mut tx = store.transaction();
        tx.move_registration(Some(before), after, rule, PersonRule::NONE);
        tx.send(&outbox.notify_registration(user, after, notice, after.card.updated_at)?);
        Ok(tx.commit().await? == CommitOutcome::Committed)
    }

    /// Deletes the answers, and later the personal data, of registrations whose time is over: it begins with the end of the
    /// course, without one with its last change, but not before the registration. Every step can be repeated. Returns when the
    /// next one's time is over.
    async fn delete_old_data(
        &self,
        course: &CourseSummary,
        now: Instant,
    ) -> Result<Option<Instant>, Error> {
        let Retention { answers, cards } = self.0.retention;
        let first = course.end().unwrap_or(course.updated_at);
        if now < first.after(answers) {
            return Ok(None);
        }
        let begin = |card: &RegistrationCard| first.max(card.created_at);
        let store = &self.0.store;
        let (order, mut position, mut next) = (RegistrationOrder::Number, None, None);
        loop {
            let (id, states) = (course.course_id, &RegistrationState::ALL);
            let page = store.registrations(id, states, &order, position.as_deref(), PAGE).await?;
            let times = page
                .items
                .iter()
                .flat_map(|card| [answers, cards].map(|time| begin(card).after(time)));
            next = times.filter(|time| *time > now).chain(next).min();
            let old = page.items.into_iter().filter(|card| begin(card).after(answers) <= now);
            let cleared = stream::iter(old).map(|card| async move {
                let Some(before) = store.registration(id, card.user_id).await? else {
                    return Ok(());
                };
                let begin = begin(&before.card);
                if now < begin.after(answers) {
                    return Ok(());
                }
                self.clear(&before, begin.after(cards) <= now, now).await
            });
            cleared.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            position = page.last;
            if position.is_none() {
                return Ok(next);
            }
        }
    }

    /// Cancels a page of the registrations of the erased user `id`, which frees their seats, and deletes the personal data
    /// in them. Returns whether there are more.
    pub(crate) async fn erase_registrations(&self, id: UserId) -> Result<bool, Error> {
        let Services { store, clock, .. } = &*self.0;
        let page = store.registrations_of(id, &RegistrationState::ALL, None, PAGE).await?;
        for listed in page.items {
            let now = clock.now();
            let Some(mut before) = store.registration(listed.card.course_id, id).await? else {
                continue;
            };
            if before.card.state.is_active() {
                let after = before.moved(Cancelled, Party::System, None, now);
                let mut tx = store.transaction();
                tx.move_registration(Some(&before), &after, SeatRule::None, PersonRule::NONE);
                tx.commit().await?.or_conflict()?;
                before = after;
            }
            self.clear(&before, true, now).await?;
        }
        Ok(page.last.is_some())
    }

    /// Copies the account `id` to its registrations for courses that have not ended, and promotes people for the courses
    /// that it waits for: it may be active again.
    pub(crate) async fn copy_account(&self, id: UserId) -> Result<(), Error> {
        let Services { store, clock, .. } = &*self.0;
        let now = clock.now();
        // Before the account: a change in between makes the work due again.
        let Some(copy) = store.account_copy(id, now).await? else {
            return Ok(());
        };
        let Some(user) = store.user(id).await? else {
            return Ok(store.finish_copy(id, &copy, now).await?);
        };
        let person = Registrant::from(&user);
        let states = &RegistrationState::ALL;
        let listed =
            all_pages(
                |at| async move { store.registrations_of(id, states, at.as_deref(), PAGE).await },
            );
        for listed in listed.await? {
            let course = listed.card.course_id;
            let Some(before) = store.registration(course, id).await? else { continue };
            if before.card.person != person {
                self.copy_person(&before, &person, now).await?;
            }
            if before.card.state == Waitlisted && user.is_active {
                self.process_seats(course).await?;
            }
        }
        Ok(store.finish_copy(id, &copy, now).await?)
    }

    async fn copy_person(
        &self,
        before: &Registration,
        person: &Registrant,
        now: Instant,
    ) -> Result<(), Error> {
        let store = &self.0.store;
        let course = store.course(before.card.course_id).await?;
        if course.is_none_or(|course| course.summary.end().is_some_and(|end| end <= now)) {
            return Ok(());
        }
        let after = before.changed(now, |after| after.card.person = person.clone());
        let mut tx = store.transaction();
        tx.change_registration(before, &after);
        Ok(tx.commit().await?.or_conflict()?)
    }

    /// Promotes people who wait for published courses of the committee `id`, which is active again.
    pub(crate) async fn promote_in_committee(&self, id: CommitteeId) -> Result<(), Error> {
        let store = &self.0.store;
        let Some(due_at) = store.reopening(id).await? else {
            return Ok(());
        };
        let list = &[CourseList::OfCommittee(id, CourseState::Published)];
        let courses = all_pages(|at| async move { store.courses(list, at.as_deref(), PAGE).await });
        for course in courses.await? {
            self.process_seats(course.summary.course_id).await?;
        }
        Ok(store.finish_reopening(id, due_at).await?)
    }

    async fn clear(
        &self,
        before: &Registration,
        is_anonymous: bool,
        now: Instant,
    ) -> Result<(), Error> {
        let erased = Registrant::erased(before.card.user_id, before.card.person.committee_id);
        let erased = erased.map_err(|_| "the details of an erased account are malformed")?;
        let after = if is_anonymous {
            before.anonymised(erased, now)
        } else {
            before.changed(now, |after| after.card.answered.clear())
        };
        let is_cleared = after.card.person == before.card.person && before.card.answered.is_empty();
        if is_cleared {
            return Ok(());
        }
        let mut tx = self.0.store.transaction();
        tx.clear_registration(before, &after, is_anonymous);
        Ok(tx.commit().await?.or_conflict()?)
    }
}
