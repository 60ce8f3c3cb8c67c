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
        RegistrationSettings, RegistrationState,
        RegistrationState::{Confirmed, Pending, Waitlisted},
        Seats,
    },
};

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, DueList, SWEEP_DELAY},
    meter::request_id,
    table::number,
    write::Write,
};

/// What must hold for a change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatRule {
    /// Nothing: a seat or place becomes free, or the registration waits for the committee.
    None,
    /// A newcomer or approved person: a seat only if one is free and nobody waits, else a place on a list that is shorter
    /// than this. No setting may have changed since the seats with this revision were read.
    Newcomer {
        /// The longest list.
        list_limit: u32,
        /// [`Seats::revision`].
        revision: u64,
    },
    /// The first person who waits: a seat is free, and no setting has changed since the seats with this revision were read.
    Promotion {
        /// [`Seats::revision`].
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

    /// Makes the seats of `course` due at `next`, or never. Does nothing when they have changed since `seats` was read.
    pub async fn reschedule_seats(
        &self,
        course: CourseId,
        seats: &Seats,
        next: Option<Instant>,
    ) -> Result<(), StoreError> {
        let update = Write::at(&keys::seats(course)).when("changes = :changes");
        let update = update.number(":changes", seats.changes);
        let update = match next {
            Some(next) => update
                .and("(attribute_not_exists(dueAt) OR dueAt <> :next)")
                .expression("SET duePk = :list, dueAt = :next, requestId = :none")
                .text(":list", DueList::Courses.name())
                .text(":none", "")
                .number(":next", next.unix_milliseconds()),
            None => update.and("attribute_exists(duePk)").expression("REMOVE duePk, dueAt"),
        };
        self.apply(update).await?;
        Ok(())
    }
}

impl Transaction {
    /// Replaces the settings of the registrations for the course `before`. The condition fails (`Part::Course`) when the
    /// course has changed since `before` was read, or (`Part::Seats`) when more people are confirmed than the new capacity.
    pub fn set_registration_settings(
        &mut self,
        before: &CourseSummary,
        settings: &RegistrationSettings,
        now: Instant,
    ) {
        self.put_registration_settings(before, settings, now);
        let counters = "SET taken = if_not_exists(taken, :zero), waiting = if_not_exists(waiting, :zero), \
                        pending = if_not_exists(pending, :zero), duePk = :list, dueAt = :soon, \
                        requestId = :request";
        let raise = "ADD revision :one, changes :one";
        let seats = Write::at(&keys::seats(before.course_id)).number(":zero", 0).number(":one", 1);
        let seats = with_due(seats, now);
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
            .when("attribute_not_exists(registered)")
            .expression("ADD revision :one, changes :one")
            .number(":one", 1);
        self.update(Part::Seats, update);
    }

    /// Tells the seats of a published course that its state or its dates change, so that no registration overlooks it
    /// and the worker acts. Only published courses can have registrations.
    pub(crate) fn revise_seats(&mut self, before: &CourseSummary, after: &CourseSummary) {
        let dates = |course: &CourseSummary| (course.start_at, course.end_at);
        let is_moved = before.state != after.state;
        if before.published_at.is_none() || !is_moved && dates(before) == dates(after) {
            return;
        }
        let now = after.updated_at;
        let update = with_due(Write::at(&keys::seats(before.course_id)), now)
            .expression(
                "SET duePk = :list, dueAt = :soon, requestId = :request ADD revision :one, changes :one",
            )
            .number(":one", 1);
        let has_ended = after.end().is_some_and(|end| end <= now);
        let update = if is_moved && after.state == CourseState::Archived && !has_ended {
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

/// Sets `:list`, `:soon` and `:request`, which make an item of a course due if the stream misses it.
fn with_due(update: Write, now: Instant) -> Write {
    let soon = now.after(SWEEP_DELAY).unix_milliseconds();
    let update = update.text(":list", DueList::Courses.name()).text(":request", &request_id());
    update.number(":soon", soon)
}

/// The update of the seats of `course` for a registration that moves from one state to another.
pub(super) fn seats_moved(
    course: CourseId,
    from: Option<RegistrationState>,
    to: RegistrationState,
    rule: SeatRule,
    now: Instant,
) -> Write {
    let count = |state| i32::from(to == state) - i32::from(from == Some(state));
    // A seat that is taken at once leaves nothing to do, but for the end of the course: that is scheduled once.
    let leaves_work = from.is_some() || to == Waitlisted;
    let (due_at, request) = if leaves_work {
        (":soon", ":request")
    } else {
        ("if_not_exists(dueAt, :soon)", "if_not_exists(requestId, :request)")
    };
    let capacity = if rule == SeatRule::AddedSeat { ", seats = seats + :one" } else { "" };
    let update = with_due(Write::at(&keys::seats(course)), now)
        .expression(format!(
            "SET duePk = :list, dueAt = {due_at}, requestId = {request}, registered = :true{capacity} \
             ADD taken :taken, waiting :waiting, pending :pending, changes :one"
        ))
        .value(":true", &true)
        .attribute(":taken", number(count(Confirmed)))
        .attribute(":waiting", number(count(Waitlisted)))
        .attribute(":pending", number(count(Pending)))
        .number(":one", 1);
    let room = "(attribute_not_exists(seats) OR taken < seats)";
    match rule {
        SeatRule::None => update,
        SeatRule::AddedSeat => update.when("attribute_exists(seats)"),
        SeatRule::Promotion { revision } => {
            update.when(format!("revision = :revision AND {room}")).number(":revision", revision)
        }
        SeatRule::Newcomer { list_limit, revision } => {
            let update = update.number(":revision", revision);
            match to {
                Confirmed => update
                    .when(format!("revision = :revision AND {room} AND waiting = :zero"))
                    .number(":zero", 0),
                Waitlisted => update
                    .when(
                        "revision = :revision AND waiting < :limit AND (taken >= seats OR waiting > :zero)",
                    )
                    .number(":limit", list_limit)
                    .number(":zero", 0),
                _ => update.when("revision = :revision"),
            }
        }
    }
}
