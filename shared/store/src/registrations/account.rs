//! Copies of an account in its registrations, which the worker renews after a change of the account.

use std::time::Duration;

use domain::{Instant, UserId};

use super::Registered;
use crate::{
    Part, Store, StoreError, Transaction,
    keys::{self, DueList},
    meter::request_id,
    write::Write,
};

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

impl Store {
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
}

impl Transaction {
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
}
