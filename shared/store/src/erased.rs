//! People who were erased, and whose traces are still to be removed.

use std::time::Duration;

use domain::{
    Instant, UserId,
    user::{DEFAULT_AVATAR, User},
};
use serde::Deserialize;

use crate::{
    Store, StoreError,
    keys::{self},
    write::Write,
};

/// By then whoever was at work for a person when he was erased has finished: his traces are looked for once
/// more.
const LOOKED_AT_AGAIN: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Erased {
    card: User,
    #[serde(rename = "dueAt")]
    due_at: Option<i64>,
}

impl Store {
    /// What is left of the person `id`, if he was erased and his traces are to be removed at `now`.
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

    /// The traces of `user` were removed at `now`; they are looked for once more a minute after he was erased.
    pub async fn settle_erased(&self, user: &User, now: Instant) -> Result<(), StoreError> {
        let update = Write::at(&keys::user(user.user_id))
            .when("attribute_exists(card.erasedAt)")
            .text(":default", DEFAULT_AVATAR);
        let again = user
            .erased_at
            .map(|erased_at| erased_at.after(LOOKED_AT_AGAIN))
            .filter(|again| now < *again);
        let update = match again {
            Some(again) => update
                .expression("SET card.avatar = :default, dueAt = :again")
                .number(":again", again.unix_milliseconds()),
            None => update.expression("SET card.avatar = :default REMOVE duePk, dueAt"),
        };
        self.apply(update).await?;
        Ok(())
    }
}
