//! The registrations for a course as far as no request changes them. The item of its seats is due whenever there is or will
//! be work on them; [`Work`] says which, and each kind has its file.

mod end;
mod forget;
mod promote;
mod tell;

use std::time::Duration;

use domain::{
    CourseId, Instant,
    registration::{Cleanup, Registration, RegistrationEvent, RegistrationNotice, Seats, Work},
    user::User,
};
use runtime::Error;
use store::{CommitOutcome, CourseTerms, SeatRule, StoreError, with_deadline};
use tokio::time::Instant as Monotonic;

use crate::{Services, Worker};

/// How long one run begins transactions: no course holds up the others. What is left is due at once.
const RUN: Duration = Duration::from_secs(4);
/// Registrations that are read at once, with their accounts.
const PAGE: u16 = 50;
/// Registrations that one transaction moves. Each has four parts at most, and a transaction a hundred
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html>).
const MOVES: usize = 24;

/// A course as it was read.
struct Course {
    terms: CourseTerms,
    seats: Seats,
    /// When it was read.
    now: Instant,
    /// When the run ends.
    ends: Monotonic,
}

/// What is left of some work.
enum Left {
    /// More, if it is still due when the course is read again.
    ReadAgain,
    /// A deletion, which goes on from here.
    Deletion(Cleanup),
    /// Nothing until then, or until something changes.
    Until(Option<Instant>),
}

/// A registration that moves to another state.
struct Move<'a> {
    before: &'a Registration,
    after: Registration,
    user: &'a User,
}

impl Worker {
    /// Does the work on the registrations for the course `id`, and makes its seats due when there is more.
    pub(crate) async fn process_seats(&self, id: CourseId) -> Result<(), Error> {
        let ends = Monotonic::now() + RUN;
        with_deadline(RUN, self.process_seats_until(id, ends)).await
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
            let course = Course { terms, seats, now, ends };
            let (next, cleanup) = match self.perform_first(&course).await? {
                Left::ReadAgain if Monotonic::now() < ends => continue,
                Left::ReadAgain => (Some(now), None),
                Left::Deletion(cleanup) => (Some(now), Some(cleanup)),
                Left::Until(next) => (next, None),
            };
            return Ok(store.reschedule_seats(id, &course.seats, next, cleanup.as_ref()).await?);
        }
    }

    /// Does the first of the work on `course` that can be done.
    async fn perform_first(&self, course: &Course) -> Result<Left, Error> {
        let Course { terms, seats, now, .. } = course;
        let (summary, retention) = (&terms.course.summary, self.0.retention);
        let mut next = seats.next_work(summary, retention, *now);
        for work in seats.work(summary, &terms.settings, retention, *now) {
            let left = match work {
                Work::End(ending) => self.end(course, ending).await?,
                Work::Promote => self.promote(course).await?,
                Work::TellDeciders => self.tell_deciders(course).await?,
                Work::Forget => self.forget(course).await?,
            };
            match left {
                Left::ReadAgain | Left::Deletion(_) => return Ok(left),
                Left::Until(time) => next = next.into_iter().chain(time).min(),
            }
        }
        Ok(Left::Until(next))
    }

    /// Makes `moves`, which `event` causes, in one transaction with their messages. Returns whether it did; if not, something
    /// has changed since it was read.
    async fn commit_moves(
        &self,
        terms: &CourseTerms,
        moves: &[Move<'_>],
        rule: SeatRule,
        event: RegistrationEvent,
    ) -> Result<bool, Error> {
        let Services { store, outbox, .. } = &*self.0;
        let course = &terms.course.summary;
        let pairs: Vec<_> = moves.iter().map(|one| (Some(one.before), &one.after)).collect();
        let mut tx = store.transaction();
        tx.move_registrations(course.course_id, &pairs, rule, u64::MAX);
        for Move { after, user, .. } in moves {
            let notice = RegistrationNotice::new(event, after);
            let message = outbox.notify_registration(user, after, notice, after.card.updated_at)?;
            tx.send_at_rate(&message);
        }
        match tx.commit().await {
            // Newcomers change the same seats all the time.
            Err(StoreError::TransactionConflict) => Ok(false),
            outcome => Ok(outcome? == CommitOutcome::Committed),
        }
    }
}
