//! Registrations: the transaction of every change of state, with the seats of the course and the lists.

mod account;
pub(crate) mod lists;
mod seats;

use domain::{
    CourseId, UserId,
    registration::{Answer, Registration, RegistrationState, RegistrationState::Waitlisted, Seats},
};
use serde::{Deserialize, Serialize};

use self::seats::seats_moved;
pub use self::{account::AccountCopy, seats::SeatRule};
use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, IndexKey, Key},
    retry::Retries,
    table::{Item, read},
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
}
