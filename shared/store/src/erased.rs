//! People who were erased, and whose traces are still to be removed.

use std::time::Duration;

use aws_sdk_dynamodb::types::Update;
use domain::{
    Instant, UserId,
    user::{DEFAULT_AVATAR, User},
};
use serde::Deserialize;

use crate::{
    Fault, Store,
    keys::{self, Table},
    table::{number, text},
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
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn erased_user(&self, id: UserId, now: Instant) -> Result<Option<User>, Fault> {
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
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn settle_erased(&self, user: &User, now: Instant) -> Result<(), Fault> {
        let update = Update::builder()
            .table_name(self.name(Table::Records))
            .set_key(Some(keys::user(user.user_id).item()))
            .condition_expression("attribute_exists(card.erasedAt)")
            .expression_attribute_values(":default", text(DEFAULT_AVATAR));
        let again = user
            .erased_at
            .map(|erased_at| erased_at.after(LOOKED_AT_AGAIN))
            .filter(|again| now < *again);
        let update = match again {
            Some(again) => update
                .update_expression("SET card.avatar = :default, dueAt = :again")
                .expression_attribute_values(":again", number(again.unix_milliseconds())),
            None => update.update_expression("SET card.avatar = :default REMOVE duePk, dueAt"),
        };
        self.update::<serde::de::IgnoredAny>(update.build()?)
            .await?;
        Ok(())
    }
}
