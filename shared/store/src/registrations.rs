//! Registrations: the transaction of every change of state, with the seats of the course.
//!
//! The counters of a course are one item, which is part of every such transaction: `confirmed ≤ capacity` is a condition
//! on it. Its updates add and subtract, so that concurrent ones do not overwrite each other. Whatever may make room, or a
//! queue, also makes the item due: the worker promotes people until nothing is left to do. `changes` counts all updates,
//! so that the worker does not take a seat item for done that has changed since it was read.

pub(crate) mod lists;

use std::time::Duration;

use domain::{
    CourseId, Instant, UserId,
    course::{CourseState, CourseSummary},
    registration::{
        Answer, Registration, RegistrationSettings, RegistrationState,
        RegistrationState::{Confirmed, Pending, Waitlisted},
        Seats,
    },
};
use serde::{Deserialize, Serialize};

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, DueList, IndexKey, Key, SWEEP_DELAY},
    meter::request_id,
    retry::Retries,
    table::{Item, number, read},
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

#[derive(Serialize, Deserialize)]
struct StoredAnswers {
    /// Version of the registration that wrote them.
    version: u64,
    /// JSON, which keeps all digits of numbers.
    answers: String,
}

impl StoredAnswers {
    fn read(self) -> Result<(u64, Vec<Answer>), StoreError> {
        let answers = serde_json::from_str(&self.answers);
        let answers = answers.map_err(|error| StoreError::Unexpected(error.to_string()))?;
        Ok((self.version, answers))
    }
}

/// Whether a registration can have `answers`: at most 65,536 bytes of JSON.
pub fn answers_fit(answers: &[Answer]) -> bool {
    serde_json::to_vec(answers).is_ok_and(|json| json.len() <= 65_536)
}

/// A registration with its answers.
#[derive(Debug, Clone)]
pub struct FullRegistration {
    /// The registration.
    pub registration: Registration,
    /// Its answers, in the order of the form when they were given.
    pub answers: Vec<Answer>,
    /// The version under which the answers were written; 0 without any.
    pub answers_version: u64,
}

/// What decides whether a person can register for a course.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The seats of the course.
    pub seats: Seats,
    /// The person's registration, active or not.
    pub own: Option<FullRegistration>,
    /// The number of the person's active registrations for all courses.
    pub active: u64,
    /// The number of changes of the person's account that registrations copy.
    pub changes: u64,
}

/// What must hold for the person of a change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PersonRule {
    /// The most active registrations afterwards.
    pub max_active: u64,
    /// [`Standing::changes`], if the registration copies the account.
    pub changes: Option<u64>,
}

impl PersonRule {
    /// Nothing must hold.
    pub const NONE: Self = Self { max_active: u64::MAX, changes: None };
}

fn full(
    registration: Option<Item>,
    answers: Option<Item>,
) -> Result<Option<FullRegistration>, StoreError> {
    let stored: Option<StoredAnswers> = read(answers)?;
    let (answers_version, answers) =
        stored.map(StoredAnswers::read).transpose()?.unwrap_or_default();
    Ok(read(registration)?.map(|registration| FullRegistration {
        registration,
        answers,
        answers_version,
    }))
}

/// The due time of a copy that was not begun: before any other work.
const AT_ONCE: i64 = 0;

/// After this time the indexes list registrations that were made just before the account changed: it is copied once more, in
/// a second pass.
const SECOND_PASS_DELAY: Duration = Duration::from_secs(60);

/// A copy of an account to its registrations.
#[derive(Debug, Clone, Copy)]
pub struct AccountCopy {
    changes: u64,
    is_second_pass: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Registered {
    active: u64,
    changes: u64,
    #[serde(rename = "dueAt")]
    due_at: Option<i64>,
}

#[derive(Deserialize)]
struct LastNumber {
    n: u64,
}

impl Store {
    /// The seats of the course `id`, strongly consistent; none taken if nobody ever changed its settings.
    pub async fn seats(&self, id: CourseId) -> Result<Seats, StoreError> {
        Ok(self.get(&keys::seats(id)).await?.unwrap_or_default())
    }

    /// The registration of `user` for `course`, without its answers.
    pub async fn registration(
        &self,
        course: CourseId,
        user: UserId,
    ) -> Result<Option<Registration>, StoreError> {
        self.get(&keys::registration(course, user)).await
    }

    /// What decides whether `user` can register for `course`.
    pub async fn standing(&self, course: CourseId, user: UserId) -> Result<Standing, StoreError> {
        let keys = [
            keys::seats(course),
            keys::registration(course, user),
            keys::answers(course, user),
            keys::registered(user),
        ];
        let [seats, registration, answers, registered] = self.get_each(keys).await?;
        let registered: Registered = read(registered)?.unwrap_or_default();
        Ok(Standing {
            seats: read(seats)?.unwrap_or_default(),
            own: full(registration, answers)?,
            active: registered.active,
            changes: registered.changes,
        })
    }

    /// The registration of `user` for `course` with its answers.
    pub async fn full_registration(
        &self,
        course: CourseId,
        user: UserId,
    ) -> Result<Option<FullRegistration>, StoreError> {
        let keys = [keys::registration(course, user), keys::answers(course, user)];
        let [registration, answers] = self.get_each(keys).await?;
        full(registration, answers)
    }

    /// The registrations of `users`, at most 50, for `course` with their answers; without those that do not exist.
    pub async fn full_registrations(
        &self,
        course: CourseId,
        users: &[UserId],
    ) -> Result<Vec<FullRegistration>, StoreError> {
        let keys =
            |user: &UserId| [keys::registration(course, *user), keys::answers(course, *user)];
        let keys: Vec<Key> = users.iter().flat_map(keys).collect();
        let mut items = self.get_all(&keys).await?.into_iter();
        let mut found = Vec::new();
        while let (Some(registration), Some(answers)) = (items.next(), items.next()) {
            found.extend(full(registration, answers)?);
        }
        Ok(found)
    }

    /// The next number of a registration for `course`. A lost response leaves a hole.
    pub async fn next_number(&self, course: CourseId) -> Result<u64, StoreError> {
        let mut retries = Retries::new();
        loop {
            let add = Write::at(&keys::last_number(course)).expression("ADD n :one");
            match self.update_item(add.number(":one", 1)).await {
                Ok(Some(LastNumber { n })) => return Ok(n),
                Ok(None) => return Err(Part::Seats.unexpected()),
                Err(error) => retries.pause(error).await?,
            }
        }
    }

    /// What is to be copied of the account `user` at `now`, if something is.
    pub async fn account_copy(
        &self,
        user: UserId,
        now: Instant,
    ) -> Result<Option<AccountCopy>, StoreError> {
        let registered: Option<Registered> = self.get(&keys::registered(user)).await?;
        Ok(registered.and_then(|one| {
            let due_at = one.due_at.filter(|at| *at <= now.unix_milliseconds())?;
            Some(AccountCopy { changes: one.changes, is_second_pass: due_at != AT_ONCE })
        }))
    }

    /// Records that `copy` of the account `user` was done at `now`. Schedules the second pass after the first one. Does
    /// nothing when the account has changed since.
    pub async fn finish_copy(
        &self,
        user: UserId,
        copy: &AccountCopy,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = Write::at(&keys::registered(user)).when("changes = :changes");
        let update = update.number(":changes", copy.changes);
        let update = if copy.is_second_pass {
            update.expression("REMOVE duePk, dueAt")
        } else {
            let again = now.after(SECOND_PASS_DELAY).unix_milliseconds();
            update.expression("SET dueAt = :again").number(":again", again)
        };
        self.apply(update).await?;
        Ok(())
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
    /// Writes the registration `after`, which follows `before`, with everything that changes with its state: the seats,
    /// the waiting list, and the person's number of active registrations. The conditions fail when the registration has
    /// changed since `before` was read (`Part::Registration`), `rule` does not hold (`Part::Seats`), or `person` does not
    /// (`Part::Registered`).
    pub fn move_registration(
        &mut self,
        before: Option<&Registration>,
        after: &Registration,
        rule: SeatRule,
        person: PersonRule,
    ) {
        let card = &after.card;
        let (from, to) = (before.map(|before| before.card.state), card.state);
        self.put_registration(before, after, true);
        self.update(Part::Seats, seats_moved(card.course_id, from, to, rule, card.updated_at));
        let listed = |registration: Option<&Registration>| {
            let card = &registration.filter(|one| one.card.state == Waitlisted)?.card;
            Some(keys::place(card.course_id, card.number))
        };
        let (old, new) = (listed(before), listed(Some(after)));
        if old != new {
            old.iter().for_each(|place| self.remove(Part::Other, place));
            if let Some(place) = &new {
                let put = Write::at(place).with_value("userID", &card.user_id);
                self.put_new(Part::Other, put);
            }
        }
        let is_active = |state: RegistrationState| i32::from(state.is_active());
        let added = is_active(to) - from.map_or(0, is_active);
        if added != 0 {
            let count = Write::at(&keys::registered(card.user_id))
                .expression("ADD active :added")
                .number(":added", added);
            let count = match added {
                1 => count
                    .when("(attribute_not_exists(active) OR active < :max)")
                    .number(":max", person.max_active),
                _ => count,
            };
            let count = match person.changes {
                None => count,
                Some(0) => count.and("attribute_not_exists(changes)"),
                Some(changes) => count.and("changes = :changes").number(":changes", changes),
            };
            self.update(Part::Registered, count);
        }
    }

    /// Makes the worker copy the account of `user` to their registrations, and promote them if they wait.
    pub(crate) fn refresh_registrations(&mut self, user: UserId) {
        let update = Write::at(&keys::registered(user))
            .expression("SET duePk = :list, dueAt = :now, requestId = :request ADD changes :one")
            .text(":list", DueList::Courses.name())
            .text(":request", &request_id())
            .number(":now", AT_ONCE)
            .number(":one", 1);
        self.update(Part::Registered, update);
    }

    /// Writes the registration `after`, which is in the same state as `before`. The condition fails
    /// (`Part::Registration`) when it has changed since `before` was read.
    pub fn change_registration(&mut self, before: &Registration, after: &Registration) {
        self.put_registration(Some(before), after, true);
    }

    /// Writes the registration `after` without its answers, and takes it out of the lists of its person if the account is
    /// gone (`is_erased`). Conditions as of [`change_registration`](Self::change_registration).
    pub fn clear_registration(
        &mut self,
        before: &Registration,
        after: &Registration,
        is_erased: bool,
    ) {
        self.put_registration(Some(before), after, !is_erased);
        let card = &after.card;
        self.remove(Part::Other, &keys::answers(card.course_id, card.user_id));
    }

    fn put_registration(
        &mut self,
        before: Option<&Registration>,
        after: &Registration,
        is_listed: bool,
    ) {
        let card = &after.card;
        let [by_number, by_name] = keys::registration_index_keys(card);
        let by_person = is_listed.then(|| keys::registered_index_key(card));
        let index_keys = [Some(by_number), Some(by_name), by_person];
        let put = keys::registration(card.course_id, card.user_id)
            .holding(after)
            .with(index_keys.into_iter().flatten().flat_map(IndexKey::attributes));
        match before {
            None => self.put_new(Part::Registration, put),
            Some(before) => {
                let put = put.when("card.version = :before").number(":before", before.card.version);
                self.put(Part::Registration, put);
            }
        }
    }

    /// Stores `answers` of `registration`, in place of those with the version `before`, or none (0). The condition fails
    /// (`Part::Registration`) when others have been stored since.
    pub fn set_answers(&mut self, registration: &Registration, answers: &[Answer], before: u64) {
        let card = &registration.card;
        let answers = serde_json::to_string(answers).unwrap_or_default();
        let put = keys::answers(card.course_id, card.user_id)
            .holding(&StoredAnswers { version: card.version, answers });
        let put = if before == 0 {
            put.when("attribute_not_exists(pk)")
        } else {
            put.when("version = :answers").number(":answers", before)
        };
        self.put(Part::Registration, put);
    }

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
fn seats_moved(
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
