//! Registrations: the transaction of every change of state, with the seats of the course and the lists.
//!
//! Their version numbers:
//!
//! | number | raised by | a condition of | protects |
//! |---|---|---|---|
//! | version of the registration | every write of it | every write of it | changes side by side: none is lost |
//! | its state's version, that of the last change of state | changes of state | nothing: a message compares it before it is sent | people from messages that a later one has overtaken |
//! | version of the answers, that of the registration that wrote them | writes of answers | writes of answers | answers that were read at another moment than the registration |
//! | revision of the seats | settings that decide, state and start of the course, changes of a question's type | registrations, promotions, endings | decisions under settings or dates that do not hold any more |
//! | changes of the seats | every write of them | rescheduling | work that came after the worker has looked |
//! | version of the course | every write of course, questions and settings | every write of them | settings and questions of one moment |

pub(crate) mod attendance;
pub(crate) mod lists;
mod registered;
pub(crate) mod seats;

use std::collections::HashMap;

use domain::{
    CourseId, UserId,
    registration::{
        Answer, Registration, RegistrationCard, RegistrationSettings, RegistrationState,
        RegistrationState::Waitlisted, Seats,
    },
    user::User,
};
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

pub use self::{
    attendance::{Attendee, StoredMarks},
    registered::Reactivation,
    seats::SeatRule,
};
use self::{registered::ActiveCourses, seats::seats_moved};
use crate::{
    Part, Store, StoreError, Transaction,
    accounts::users::unless_erased,
    courses::questions::stored_settings,
    keys::{self, IndexKey, Key},
    retry::Retries,
    table::{Consistency, Item, MAX_KEYS, card, read},
    write::Write,
};

#[derive(Serialize, Deserialize)]
struct StoredAnswers {
    /// Version of the registration that wrote them.
    version: u64,
    /// JSON, which keeps all digits of numbers.
    answers: String,
}

impl StoredAnswers {
    fn read(self) -> Result<(u64, Vec<Answer>), StoreError> {
        let answers = serde_json::from_str(&self.answers)
            .map_err(|error| StoreError::Unexpected(error.to_string()))?;
        Ok((self.version, answers))
    }
}

/// Whether a registration can have `answers`: their values have at most 65,536 bytes of JSON, and with the questions as they
/// were asked they fit into an item
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-items>).
pub fn answers_fit(answers: &[Answer]) -> bool {
    let values: usize = answers.iter().map(|answer| answer.value.get().len()).sum();
    let all = serde_json::to_vec(answers).map_or(usize::MAX, |json| json.len());
    values <= 65_536 && all <= 390_000
}

/// A registration with its answers and the account of its person.
#[derive(Debug, Clone)]
pub struct FullRegistration {
    /// The registration.
    pub registration: Registration,
    /// Its answers, in the order of the form when they were given.
    pub answers: Vec<Answer>,
    /// The version under which the answers were written; 0 without any.
    pub answers_version: u64,
    /// The account, which may be erased.
    pub user: User,
    /// The attendance of the person.
    pub attendance: StoredMarks,
}

/// What the availability of a course depends on, beside the course itself.
#[derive(Debug, Clone, Default)]
pub struct RegistrationTerms {
    /// The settings of its registrations.
    pub settings: RegistrationSettings,
    /// Its seats.
    pub seats: Seats,
    /// The state of the reader's own registration.
    pub own: Option<RegistrationState>,
}

/// What decides whether a person can register for a course.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The seats of the course.
    pub seats: Seats,
    /// The person's registration, active or not.
    pub own: Option<FullRegistration>,
    /// The number of the person's active registrations for all courses, also for those that are over.
    pub active: u64,
}

fn full(
    registration: Option<Item>,
    answers: Option<Item>,
    marks: Option<Item>,
    user: Option<User>,
) -> Result<Option<FullRegistration>, StoreError> {
    let stored: Option<StoredAnswers> = read(answers)?;
    let (answers_version, answers) =
        stored.map(StoredAnswers::read).transpose()?.unwrap_or_default();
    let registration: Option<Registration> = read(registration)?;
    let attendance: StoredMarks = read(marks)?.unwrap_or_default();
    let found = registration.zip(user);
    Ok(found.map(|(registration, user)| FullRegistration {
        registration,
        answers,
        answers_version,
        user,
        attendance,
    }))
}

#[derive(Deserialize)]
struct LastNumber {
    n: u64,
}

impl Store {
    /// The registration of `user` for `course`, without its answers.
    pub async fn registration(
        &self,
        course: CourseId,
        user: UserId,
    ) -> Result<Option<Registration>, StoreError> {
        self.get(&keys::registration(course, user)).await
    }

    /// What decides whether `user` can register for `course`.
    pub async fn standing(&self, course: CourseId, user: &User) -> Result<Standing, StoreError> {
        let id = user.user_id;
        let keys = [
            keys::seats(course),
            keys::registration(course, id),
            keys::answers(course, id),
            keys::attendance(course, id),
            keys::registered(id),
        ];
        let [seats, registration, answers, marks, registered] = self.get_each(keys).await?;
        let registered: ActiveCourses = read(registered)?.unwrap_or_default();
        Ok(Standing {
            seats: read(seats)?.unwrap_or_default(),
            own: full(registration, answers, marks, Some(user.clone()))?,
            active: registered.courses.len() as u64,
        })
    }

    /// What the availability of each of `courses`, which are different, depends on, for a reader who may be the account
    /// `reader`, who sees what they have written before; one request for each 33 or, without a reader, 50 courses, all at once.
    pub async fn registration_terms(
        &self,
        courses: &[CourseId],
        reader: Option<UserId>,
    ) -> Result<HashMap<CourseId, RegistrationTerms>, StoreError> {
        let keys_of = |course: CourseId| {
            let own = reader.map(|user| keys::registration(course, user));
            [Some(keys::registration_settings(course)), Some(keys::seats(course)), own]
                .into_iter()
                .flatten()
        };
        let (keys_each, consistency) = match reader {
            Some(_) => (3, Consistency::Strong),
            None => (2, Consistency::Eventual),
        };
        let batches = courses.chunks(MAX_KEYS / keys_each).map(async |courses| {
            let keys: Vec<Key> = courses.iter().copied().flat_map(keys_of).collect();
            let mut items = self.get_batch(&keys, consistency).await?.into_iter();
            let mut terms = Vec::new();
            for course in courses {
                let settings = stored_settings(items.next().flatten())?;
                let seats = read(items.next().flatten())?.unwrap_or_default();
                let own = if reader.is_some() { items.next().flatten() } else { None };
                let own: Option<RegistrationCard> = card(own)?;
                let own = own.map(|card| card.state);
                terms.push((*course, RegistrationTerms { settings, seats, own }));
            }
            Ok::<_, StoreError>(terms)
        });
        Ok(try_join_all(batches).await?.into_iter().flatten().collect())
    }

    /// The registration of `user` for `course` with its answers.
    pub async fn full_registration(
        &self,
        course: CourseId,
        user: UserId,
    ) -> Result<Option<FullRegistration>, StoreError> {
        Ok(self.full_registrations(course, &[user]).await?.pop())
    }

    /// The registrations of `users`, at most 25, for `course` with their answers; without those that do not exist.
    pub async fn full_registrations(
        &self,
        course: CourseId,
        users: &[UserId],
    ) -> Result<Vec<FullRegistration>, StoreError> {
        let keys = |user: &UserId| {
            [
                keys::registration(course, *user),
                keys::answers(course, *user),
                keys::attendance(course, *user),
                keys::user(*user),
            ]
        };
        let keys: Vec<Key> = users.iter().flat_map(keys).collect();
        let mut items = self.get_all(&keys).await?.into_iter();
        let mut found = Vec::new();
        while let (Some(registration), Some(answers), Some(marks), Some(user)) =
            (items.next(), items.next(), items.next(), items.next())
        {
            found.extend(full(registration, answers, marks, card(user)?)?);
        }
        Ok(found)
    }

    /// The registrations of `users`, at most 50, for `course` with their accounts, in that order; without those that do not
    /// exist, and those of erased accounts.
    pub async fn registrants(
        &self,
        course: CourseId,
        users: &[UserId],
    ) -> Result<Vec<(Registration, User)>, StoreError> {
        let keys = |user: &UserId| [keys::registration(course, *user), keys::user(*user)];
        let keys: Vec<Key> = users.iter().flat_map(keys).collect();
        let mut items = self.get_all(&keys).await?.into_iter();
        let mut found = Vec::new();
        while let (Some(registration), Some(user)) = (items.next(), items.next()) {
            let user = unless_erased(read(user)?);
            found.extend(read(registration)?.zip(user));
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
}

impl Transaction {
    /// Writes the registrations `after`, which follow `before`, all for the course `id`, with everything that changes with
    /// their states: the seats, the waiting list, and the active registrations of each person. The conditions fail when a
    /// registration has changed since `before` was read (`Part::Registration`), `rule` does not hold (`Part::Seats`), or a
    /// person would have more than `max_active` active registrations (`Part::Registered`).
    pub fn move_registrations(
        &mut self,
        id: CourseId,
        moves: &[(Option<&Registration>, &Registration)],
        rule: SeatRule,
        max_active: u64,
    ) {
        // First, so that its condition is the one that is reported.
        self.update(Part::Seats, seats_moved(id, moves, rule));
        for (before, after) in moves {
            self.move_registration(*before, after, max_active);
        }
    }

    fn move_registration(
        &mut self,
        before: Option<&Registration>,
        after: &Registration,
        max_active: u64,
    ) {
        let card = &after.card;
        self.put_registration(before, after, true);
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
        match (before.is_some_and(|before| before.card.state.is_active()), card.state.is_active()) {
            (false, true) => self.add_registered(card.user_id, card.course_id, max_active),
            (true, false) => self.remove_registered(card.user_id, card.course_id),
            _ => {}
        }
    }

    /// Writes the registration `after`, which is in the same state as `before`. The condition fails
    /// (`Part::Registration`) when it has changed since `before` was read.
    pub fn change_registration(&mut self, before: &Registration, after: &Registration) {
        self.put_registration(Some(before), after, true);
    }

    /// Writes the registration `after` without its answers and, if it is anonymous (`is_erased`), without marks of attendance,
    /// and takes it out of the lists of its person. Conditions as of [`change_registration`](Self::change_registration).
    pub fn clear_registration(
        &mut self,
        before: &Registration,
        after: &Registration,
        is_erased: bool,
    ) {
        self.put_registration(Some(before), after, !is_erased);
        let card = &after.card;
        self.remove(Part::Other, &keys::answers(card.course_id, card.user_id));
        if is_erased {
            self.clear_marks(card.course_id, card.user_id);
        }
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
}
