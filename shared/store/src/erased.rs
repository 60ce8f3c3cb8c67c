//! Erasure of users: those whose data is still to be deleted, and those who are not verified in time.

use std::time::Duration;

use domain::{
    Instant, UserId,
    user::{DEFAULT_AVATAR, User},
};
use serde::Deserialize;

use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self},
    write::Write,
};

/// After this time, requests that were running when the user was erased have ended: the data is deleted once more.
const SECOND_PASS_DELAY: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Erased {
    card: User,
    #[serde(rename = "dueAt")]
    due_at: Option<i64>,
}

impl Transaction {
    /// Adds the writes that erase `user` beside the change of the account, and returns the account without personal
    /// data for that change. The address is free and the credentials are gone at once; the dispatcher deletes the rest.
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
            if is_late(user) {
                tx.erase(user, now)
            } else {
                Ok(user.clone())
            }
        };
        let failed = |part: Part| StoreError::Unexpected(format!("{part:?} prevents an erasure"));
        self.update_user(user, erase, failed).await.map(|_| ())
    }

    /// The remaining account of the user `id`, if it was erased and the deletion of its data is due at `now`.
    pub async fn erased_user(&self, id: UserId, now: Instant) -> Result<Option<User>, StoreError> {
        let erased: Option<Erased> = self.get(&keys::user(id)).await?;
        let is_due = |erased: &Erased| {
            let is_time = erased
                .due_at
                .is_some_and(|due_at| Instant::from_unix_milliseconds(due_at) <= now);
            erased.card.erased_at.is_some() && is_time
        };
        Ok(erased.filter(is_due).map(|erased| erased.card))
    }

    /// Records that the data of `user` was deleted at `now`. Schedules a second pass if the user was erased less
    /// than a minute ago.
    pub async fn finish_erasure(&self, user: &User, now: Instant) -> Result<(), StoreError> {
        let update = Write::at(&keys::user(user.user_id))
            .when("attribute_exists(card.erasedAt)")
            .text(":default", DEFAULT_AVATAR);
        let second_pass = user
            .erased_at
            .map(|erased_at| erased_at.after(SECOND_PASS_DELAY))
            .filter(|second_pass| now < *second_pass);
        let update = match second_pass {
            Some(second_pass) => update
                .expression("SET card.avatar = :default, dueAt = :again")
                .number(":again", second_pass.unix_milliseconds()),
            None => update.expression("SET card.avatar = :default REMOVE duePk, dueAt"),
        };
        self.apply(update).await?;
        Ok(())
    }
}
