//! The seats of a course: one item with its counters, which every change of state updates.
//!
//! `confirmed ≤ capacity` is a condition on it. Its updates add and subtract, so that concurrent ones do not overwrite each
//! other. Whatever may make room, or a queue, also makes the item due: the worker promotes people until nothing is left to
//! do. `changes` counts all updates, so that the worker does not take a seat item for done that has changed since it was
//! read.

use domain::{
    CourseId, Instant,
    course::{CourseState, CourseSummary},
    registration::{
        Cleanup, Registration, RegistrationSettings, RegistrationState,
        RegistrationState::{Confirmed, Pending, Waitlisted},
        Seats,
    },
    times::SWEEP_DELAY,
};

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, DueList},
    meter::request_id,
    table::number,
    write::Write,
};

/// What must hold for changes of state. `revision` is [`Seats::revision`]: no setting, and neither state nor start of the
/// course, may have changed since the seats with it were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatRule {
    /// Nothing: a seat or place becomes free, or the registration waits for the committee.
    None,
    /// A newcomer or approved person: a seat only if one is free and nobody waits, else a place on the list. Its limit,
    /// `None` if there is no list, holds only while no seat is free.
    Newcomer {
        /// The longest list.
        list_limit: Option<u32>,
        /// See [`SeatRule`].
        revision: u64,
    },
    /// The first people who wait: a seat is free for each.
    Promotion {
        /// [`Seats::capacity`].
        capacity: Option<u32>,
        /// See [`SeatRule`].
        revision: u64,
    },
    /// The course is cancelled, or has begun.
    Ending {
        /// See [`SeatRule`].
        revision: u64,
    },
    /// The course gets one seat more.
    AddedSeat,
}

impl Store {
    /// The seats of the course `id`, strongly consistent; none taken if nobody ever changed its settings.
    pub async fn seats(&self, id: CourseId) -> Result<Seats, StoreError> {
        Ok(self.get(&keys::seats(id)).await?.unwrap_or_default())
    }

    /// Makes the seats of `course` due at `now` if somebody waits. Returns whether somebody does.
    pub async fn wake_seats(&self, course: CourseId, now: Instant) -> Result<bool, StoreError> {
        let update = with_due(Write::at(&keys::seats(course)), now)
            .when("waiting > :zero")
            .expression("SET duePk = :list, dueAt = :due, requestId = :request ADD changes :one")
            .number(":zero", 0)
            .number(":one", 1);
        self.apply(update).await
    }

    /// Records that those who may decide have been told of the registrations for `course` that wait for it. Does nothing when
    /// the seats have changed since `seats` was read.
    pub async fn requests_told(&self, course: CourseId, seats: &Seats) -> Result<(), StoreError> {
        let update = Write::at(&keys::seats(course))
            .when("changes = :changes")
            .number(":changes", seats.changes)
            .expression("REMOVE requestedAt");
        self.apply(update).await.map(drop)
    }

    /// Makes the seats of `course` due at `next`, or never, to go on with `cleanup`. Does nothing when they have changed since
    /// `seats` was read.
    pub async fn reschedule_seats(
        &self,
        course: CourseId,
        seats: &Seats,
        next: Option<Instant>,
        cleanup: Option<&Cleanup>,
    ) -> Result<(), StoreError> {
        let update = Write::at(&keys::seats(course)).when("changes = :changes");
        let update = update.number(":changes", seats.changes);
        let update = match (next, cleanup) {
            (Some(next), cleanup) => {
                let update = update
                    .text(":list", DueList::Courses.code())
                    .text(":none", "")
                    .number(":next", next.unix_milliseconds());
                let set = "SET duePk = :list, dueAt = :next, requestId = :none";
                match cleanup {
                    Some(cleanup) => update
                        .expression(format!("{set}, cleanup = :cleanup"))
                        .value(":cleanup", cleanup),
                    None => update
                        .and("(attribute_not_exists(dueAt) OR dueAt <> :next)")
                        .expression(format!("{set} REMOVE cleanup")),
                }
            }
            (None, _) => update.expression("REMOVE duePk, dueAt, cleanup"),
        };
        self.apply(update).await?;
        Ok(())
    }
}

impl Transaction {
    /// Replaces the settings `before` of the registrations for `course`. The condition fails (`Part::Course`) when the course
    /// has changed since it was read, or (`Part::Seats`) when more people are confirmed than the new capacity. Registrations
    /// that are under way are decided anew only if the settings [decide](RegistrationSettings::decides_as) otherwise.
    pub fn set_registration_settings(
        &mut self,
        course: &CourseSummary,
        before: &RegistrationSettings,
        settings: &RegistrationSettings,
        now: Instant,
    ) {
        self.put_registration_settings(course, settings, now);
        if settings.decides_as(before) {
            return;
        }
        let counters = "SET taken = if_not_exists(taken, :zero), waiting = if_not_exists(waiting, :zero), \
                        pending = if_not_exists(pending, :zero), duePk = :list, dueAt = :due, \
                        requestId = :request";
        let raise = "ADD revision :one, changes :one";
        let seats = Write::at(&keys::seats(course.course_id)).number(":zero", 0).number(":one", 1);
        let seats = with_due(seats, now.after(SWEEP_DELAY));
        let seats = match settings.capacity {
            Some(capacity) => seats
                .when("attribute_not_exists(taken) OR taken <= :capacity")
                .expression(format!("{counters}, seats = :capacity {raise}"))
                .number(":capacity", capacity),
            None => seats.expression(format!("{counters} REMOVE seats {raise}")),
        };
        self.update(Part::Seats, seats);
    }

    /// Raises the capacity in the settings of the course `before`, beside a change of state with
    /// [`SeatRule::AddedSeat`]. The condition fails (`Part::Course`) when the course has changed since `before` was read.
    pub fn add_seat(
        &mut self,
        before: &CourseSummary,
        settings: &RegistrationSettings,
        now: Instant,
    ) {
        let capacity = settings.capacity.map(|capacity| capacity + 1);
        let after = RegistrationSettings { capacity, updated_at: Some(now), ..settings.clone() };
        self.put_registration_settings(before, &after, now);
    }

    /// Prevents registrations that were decided by the questions of `course` before this transaction. The condition fails
    /// (`Part::Seats`) if somebody has ever registered: then the types of questions are fixed.
    pub fn change_question_type(&mut self, course: CourseId) {
        let update = Write::at(&keys::seats(course))
            .when("attribute_not_exists(registered) OR registered = :zero")
            .expression("ADD revision :one, changes :one")
            .number(":zero", 0)
            .number(":one", 1);
        self.update(Part::Seats, update);
    }

    /// Tells the seats of a published course that its state or its dates change, so that the worker acts and, but for the end
    /// alone, no registration overlooks it. Only published courses can have registrations.
    pub(crate) fn revise_seats(&mut self, before: &CourseSummary, after: &CourseSummary) {
        let is_moved = before.state != after.state;
        let starts_otherwise = before.start() != after.start();
        let is_same = !is_moved && !starts_otherwise && before.end() == after.end();
        if before.published_at.is_none() || is_same {
            return;
        }
        let now = after.updated_at;
        let is_decisive = is_moved || starts_otherwise;
        let changed = if starts_otherwise { ", startChangedAt = :now" } else { "" };
        let raise =
            if is_decisive { "ADD revision :one, changes :one" } else { "ADD changes :one" };
        let seats = Write::at(&keys::seats(before.course_id));
        let update = with_due(seats, now.after(SWEEP_DELAY))
            .expression(format!(
                "SET duePk = :list, dueAt = :due, requestId = :request{changed} {raise}"
            ))
            .number(":one", 1);
        let update = if changed.is_empty() { update } else { update.value(":now", &now) };
        let update = if is_moved && after.state == CourseState::Archived && !after.has_ended(now) {
            let is_empty =
                |counter| format!("(attribute_not_exists({counter}) OR {counter} = :zero)");
            let conditions = ["taken", "waiting", "pending"].map(is_empty).join(" AND ");
            update.when(conditions).number(":zero", 0)
        } else {
            update
        };
        self.update(Part::Seats, update);
    }
}

/// Sets `:list`, `:due` and `:request`, which make an item of a course due at `due`.
pub(crate) fn with_due(update: Write, due: Instant) -> Write {
    let update = update.text(":list", DueList::Courses.code()).text(":request", &request_id());
    update.number(":due", due.unix_milliseconds())
}

/// The update of the seats of `course` for registrations that move from one state to another.
pub(super) fn seats_moved(
    course: CourseId,
    moves: &[(Option<&Registration>, &Registration)],
    rule: SeatRule,
) -> Write {
    let states =
        || moves.iter().map(|(from, to)| (from.map(|from| from.card.state), to.card.state));
    let count = |state: RegistrationState| -> i32 {
        let change = |(from, to)| i32::from(to == state) - i32::from(from == Some(state));
        states().map(change).sum()
    };
    let now = moves.iter().map(|(_, to)| to.card.updated_at).max().unwrap_or(Instant::MAX);
    // The worker goes on at once with what it has begun; else the sweep does what the stream has missed.
    let due = match rule {
        SeatRule::Promotion { .. } | SeatRule::Ending { .. } => now,
        _ => now.after(SWEEP_DELAY),
    };
    // A seat that is taken at once leaves nothing to do, but for the end of the course: that is scheduled once.
    let leaves_work = states().any(|(from, to)| from.is_some() || to != Confirmed);
    let (due_at, request) = if leaves_work {
        (":due", ":request")
    } else {
        ("if_not_exists(dueAt, :due)", "if_not_exists(requestId, :request)")
    };
    let capacity = if rule == SeatRule::AddedSeat { ", seats = seats + :one" } else { "" };
    let is_request = states().any(|(_, to)| to == Pending);
    let requested = if is_request { ", requestedAt = :now" } else { "" };
    let newcomers = states().filter(|(from, _)| from.is_none()).count();
    let update = with_due(Write::at(&keys::seats(course)), due)
        .expression(format!(
            "SET duePk = :list, dueAt = {due_at}, requestId = {request}{capacity}{requested} \
             ADD taken :taken, waiting :waiting, pending :pending, registered :newcomers, changes :one"
        ))
        .attribute(":taken", number(count(Confirmed)))
        .attribute(":waiting", number(count(Waitlisted)))
        .attribute(":pending", number(count(Pending)))
        .number(":newcomers", newcomers)
        .number(":one", 1);
    let update = if is_request { update.value(":now", &now) } else { update };
    let room = "(attribute_not_exists(seats) OR taken < seats)";
    match rule {
        // The capacity is part of the settings, which the caller replaces under a condition.
        SeatRule::None | SeatRule::AddedSeat => update,
        SeatRule::Ending { revision } => {
            update.when("revision = :revision").number(":revision", revision)
        }
        SeatRule::Promotion { capacity, revision } => {
            let update = update.when("revision = :revision").number(":revision", revision);
            match capacity {
                None => update,
                // Seats that were added since only leave more room.
                Some(capacity) => update
                    .and("taken <= :most")
                    .number(":most", i64::from(capacity) - i64::from(count(Confirmed))),
            }
        }
        SeatRule::Newcomer { list_limit, revision } => {
            let update = update.when("revision = :revision").number(":revision", revision);
            match (states().next().map(|(_, to)| to), list_limit) {
                (Some(Confirmed), None) => update.and(room),
                (Some(Confirmed), Some(_)) => {
                    update.and(&format!("{room} AND waiting = :zero")).number(":zero", 0)
                }
                (Some(Waitlisted), Some(limit)) => {
                    update.and(&format!("({room} OR waiting < :limit)")).number(":limit", limit)
                }
                _ => update,
            }
        }
    }
}
