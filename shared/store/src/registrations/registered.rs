//! The courses for which a person has an active registration, in one item, and the promotion of a person whose account is
//! active again.

use aws_sdk_dynamodb::types::AttributeValue;
use domain::{CourseId, Instant, UserId};
use serde::Deserialize;

use crate::{
    Part, Store, StoreError, Transaction,
    courses::CourseItem,
    keys::{self, DueList, Key},
    meter::request_id,
    table::{MAX_KEYS, read},
    write::Write,
};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ActiveCourses {
    /// A set in the store, so that adding and removing can be repeated.
    pub(super) courses: Vec<CourseId>,
    #[serde(rename = "duePk")]
    due_pk: Option<String>,
    reactivation: u64,
}

/// A person who waits for courses and whose account is active again.
#[derive(Debug, Clone)]
pub struct Reactivation {
    user: UserId,
    number: u64,
    /// The courses for which the person has an active registration.
    pub courses: Vec<CourseId>,
}

impl Store {
    /// The number of active registrations of `user` for courses that are not over at `now`. The item of a person who has
    /// `max` of them is first freed of those that are over.
    pub async fn active_registrations(
        &self,
        user: UserId,
        max: u64,
        now: Instant,
    ) -> Result<u64, StoreError> {
        let registered: Option<ActiveCourses> = self.get(&keys::registered(user)).await?;
        let courses = registered.unwrap_or_default().courses;
        if (courses.len() as u64) < max {
            return Ok(courses.len() as u64);
        }
        let mut over = Vec::new();
        for ids in courses.chunks(MAX_KEYS) {
            let keys: Vec<Key> = ids.iter().map(|id| keys::course(*id)).collect();
            for (id, item) in ids.iter().zip(self.get_all(&keys).await?) {
                let course: Option<CourseItem> = read(item)?;
                if course.is_none_or(|course| course.card.has_ended(now)) {
                    over.push(*id);
                }
            }
        }
        if !over.is_empty() {
            let update = Write::at(&keys::registered(user)).expression("DELETE courses :over");
            self.apply(update.attribute(":over", set(&over))).await?;
        }
        Ok((courses.len() - over.len()) as u64)
    }

    /// Where `user` may be promoted because their account is active again; `None` if that was done.
    pub async fn reactivation(&self, user: UserId) -> Result<Option<Reactivation>, StoreError> {
        let registered: Option<ActiveCourses> = self.get(&keys::registered(user)).await?;
        let registered = registered.filter(|one| one.due_pk.is_some());
        Ok(registered.map(|ActiveCourses { reactivation: number, courses, .. }| Reactivation {
            user,
            number,
            courses,
        }))
    }

    /// Records that the seats of all courses of `reactivation` are due. Does nothing when the account became active once
    /// more since.
    pub async fn finish_reactivation(&self, reactivation: &Reactivation) -> Result<(), StoreError> {
        let update = Write::at(&keys::registered(reactivation.user))
            .when("reactivation = :number")
            .expression("REMOVE duePk, dueAt")
            .number(":number", reactivation.number);
        self.apply(update).await.map(drop)
    }
}

impl Transaction {
    /// Makes the seats of all courses that `user` waits for due.
    pub(crate) fn wake_where_waiting(&mut self, user: UserId) {
        // Due before any other work.
        let update = Write::at(&keys::registered(user))
            .expression(
                "SET duePk = :list, dueAt = :zero, requestId = :request ADD reactivation :one",
            )
            .text(":list", DueList::Courses.code())
            .text(":request", &request_id())
            .number(":zero", 0)
            .number(":one", 1);
        self.update(Part::Other, update);
    }

    /// Counts the registration of `user` for `course` among their active ones. The condition fails (`Part::Registered`) when
    /// they have `max` of them.
    pub(super) fn add_registered(&mut self, user: UserId, course: CourseId, max: u64) {
        let update = Write::at(&keys::registered(user))
            .when("attribute_not_exists(courses) OR size(courses) < :max")
            .expression("ADD courses :course")
            .number(":max", max)
            .attribute(":course", set(&[course]));
        self.update(Part::Registered, update);
    }

    /// Counts it no more.
    pub(super) fn remove_registered(&mut self, user: UserId, course: CourseId) {
        let update = Write::at(&keys::registered(user)).expression("DELETE courses :course");
        self.update(Part::Registered, update.attribute(":course", set(&[course])));
    }
}

fn set(courses: &[CourseId]) -> AttributeValue {
    AttributeValue::Ss(courses.iter().map(CourseId::to_string).collect())
}
