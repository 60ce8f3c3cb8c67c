//! Erasure of users: those whose data is still to be deleted, and those who are not verified in time.

use std::time::Duration;

use domain::{
    Instant, UserId,
    user::{DEFAULT_AVATAR, User},
};
use serde::{Deserialize, Serialize};

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self},
    write::Write,
};

/// After this time, requests that were running when the user was erased have ended, and the indexes list what they
/// wrote: the data is deleted once more, in a second pass.
const SECOND_PASS_DELAY: Duration = Duration::from_secs(60);

/// The courses of an erased user whose contact details are not replaced yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CoursesLeft {
    /// All of them.
    #[default]
    All,
    /// Those after this position.
    After(String),
    /// None of them.
    None,
}

/// The deletion of the data of an erased user, which is done in steps.
#[derive(Debug, Clone)]
pub struct Erasure {
    /// The remaining account.
    pub user: User,
    /// What is left of the courses.
    pub courses: CoursesLeft,
    is_second_pass: bool,
    due_at: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErasedUser {
    card: User,
    due_at: Option<i64>,
    #[serde(default)]
    courses_left: CoursesLeft,
    #[serde(default)]
    is_second_pass: bool,
}

impl Transaction {
    /// Adds the writes that erase `user` beside the change of the account, and returns the account without personal
    /// data for that change. The address is free and the credentials are gone at once; the worker deletes the rest.
    pub fn erase(&mut self, user: &User, now: Instant) -> Result<User, StoreError> {
        let after = user
            .clone()
            .erased(now)
            .map_err(|_| StoreError::Unexpected("an erased account is malformed".to_owned()))?;
        self.release_email(&user.email);
        self.remove_credentials(user.user_id);
        self.remove_otp(user.user_id, None);
        Ok(after)
    }
}

impl Store {
    /// Erases the user `id` if their time to be verified has passed at `now`.
    pub async fn erase_unverified(&self, id: UserId, now: Instant) -> Result<(), StoreError> {
        let is_late = |user: &User| user.unverified_until.is_some_and(|until| until <= now);
        let Some(user) = self.user(id).await?.filter(is_late) else {
            return Ok(());
        };
        let erase = |user: &User, tx: &mut Transaction| {
            if is_late(user) { tx.erase(user, now) } else { Ok(user.clone()) }
        };
        let failed = |part: Part| StoreError::Unexpected(format!("{part:?} prevents an erasure"));
        self.update_user(user, erase, failed).await.map(|_| ())
    }

    /// The erasure of the user `id`, if the account was erased and the next step is due at `now`.
    pub async fn erasure(&self, id: UserId, now: Instant) -> Result<Option<Erasure>, StoreError> {
        let erased: Option<ErasedUser> = self.get(&keys::user(id)).await?;
        Ok(erased.and_then(|erased| {
            let is_due = |due_at: &i64| Instant::from_unix_milliseconds(*due_at) <= now;
            let is_erased = erased.card.erased_at.is_some();
            let due_at = erased.due_at.filter(is_due).filter(|_| is_erased)?;
            Some(Erasure {
                user: erased.card,
                courses: erased.courses_left,
                is_second_pass: erased.is_second_pass,
                due_at,
            })
        }))
    }

    /// Makes the next step of `erasure` due at `now`, with `courses` left. Does nothing when another process has done
    /// so since it was read. After an error the step that was read is still due, or the next one.
    pub async fn continue_erasure(
        &self,
        erasure: &Erasure,
        courses: &CoursesLeft,
        now: Instant,
    ) -> Result<(), StoreError> {
        let update = Write::at(&keys::user(erasure.user.user_id))
            .when("dueAt = :at")
            .expression("SET dueAt = :now, coursesLeft = :courses")
            .number(":at", erasure.due_at)
            .number(":now", now.unix_milliseconds())
            .value(":courses", courses);
        self.apply(update).await.map(drop)
    }

    /// Records that the data was deleted at `now`. Schedules the second pass after the first one. Does nothing when another
    /// process has done a step since `erasure` was read, because that one may have found more.
    pub async fn finish_erasure(&self, erasure: &Erasure, now: Instant) -> Result<(), StoreError> {
        let user = &erasure.user;
        let update = Write::at(&keys::user(user.user_id))
            .when("dueAt = :at")
            .number(":at", erasure.due_at)
            .text(":default", DEFAULT_AVATAR);
        let update = if erasure.is_second_pass {
            update.expression(
                "SET card.avatar = :default REMOVE duePk, dueAt, coursesLeft, isSecondPass, card.formerContact",
            )
        } else {
            let erased_at = user.erased_at.unwrap_or(now);
            let second_pass = erased_at.after(SECOND_PASS_DELAY).max(now);
            update
                .expression(
                    "SET card.avatar = :default, dueAt = :again, isSecondPass = :true REMOVE coursesLeft",
                )
                .number(":again", second_pass.unix_milliseconds())
                .value(":true", &true)
        };
        self.apply(update).await.map(drop)
    }
}
