//! Optimistic updates: read, decide, write on condition of the version that was read; retried after concurrent
//! changes.

use std::{future::Future, time::Duration};

use domain::user::User;
use tokio::time::{Instant, sleep};

use crate::{CommitOutcome, Part, Store, StoreError, Transaction, retry::pause};

/// Time limit of an update outside [`within`].
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// The backoff stops growing after this number of attempts.
const MAX_BACKOFF: u32 = 4;

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs `work` with a deadline for its updates: they are not retried once `time` has passed.
pub async fn within<T>(time: Duration, work: impl Future<Output = T>) -> T {
    DEADLINE.scope(Instant::now() + time, work).await
}

impl Store {
    /// Calls `attempt`, which reads, decides and prepares a transaction, commits the transaction and returns the
    /// other value of `attempt`. Repeats this with random delays until the deadline when a condition fails,
    /// unless `on_failed` maps the part to an error.
    ///
    /// # Errors
    /// Those of `attempt` and `on_failed`; [`StoreError::UpdateConflict`] when concurrent changes made every attempt
    /// fail until the deadline.
    pub async fn update<T, E: From<StoreError>, A: Future<Output = Result<(Transaction, T), E>>>(
        &self,
        mut attempt: impl FnMut() -> A,
        on_failed: impl Fn(Part) -> Option<E>,
    ) -> Result<T, E> {
        let mut attempts = Attempts::new();
        loop {
            let (transaction, result) = attempt().await?;
            let part = match attempts.commit(transaction).await? {
                Some(CommitOutcome::Committed) => return Ok(result),
                Some(CommitOutcome::ConditionFailed(part)) => part,
                None => continue,
            };
            if let Some(error) = on_failed(part) {
                return Err(error);
            }
            attempts.pause(StoreError::UpdateConflict).await?;
        }
    }

    /// Replaces the account `user` by the one that `decide` returns, in one transaction with the writes that
    /// `decide` adds, and returns it. Reads the account and decides again when it has changed in the meantime.
    /// `on_failed` maps any other part whose condition fails to an error, and `Part::User` when the account no
    /// longer exists.
    ///
    /// # Errors
    /// Those of `decide` and `on_failed`, and as [`update`](Self::update).
    pub async fn update_user<E: From<StoreError>>(
        &self,
        mut user: User,
        mut decide: impl FnMut(&User, &mut Transaction) -> Result<User, E>,
        on_failed: impl Fn(Part) -> E,
    ) -> Result<User, E> {
        let mut attempts = Attempts::new();
        loop {
            let mut additions = self.transaction();
            let after = decide(&user, &mut additions)?;
            // The account comes first: if it has changed, its condition is the one that is reported.
            let mut tx = self.transaction();
            tx.change_user(&user, &after);
            tx.append(additions);
            match attempts.commit(tx).await? {
                Some(CommitOutcome::Committed) => return Ok(after),
                Some(CommitOutcome::ConditionFailed(Part::User)) => {
                    attempts.pause(StoreError::UpdateConflict).await?
                }
                Some(CommitOutcome::ConditionFailed(part)) => return Err(on_failed(part)),
                None => {}
            }
            let read = self.user(user.user_id).await?;
            user = read.ok_or_else(|| on_failed(Part::User))?;
        }
    }
}

struct Attempts {
    deadline: Instant,
    count: u32,
}

impl Attempts {
    fn new() -> Self {
        let deadline = DEADLINE.try_with(|deadline| *deadline);
        Self {
            deadline: deadline.unwrap_or_else(|_| Instant::now() + DEFAULT_TIME),
            count: 0,
        }
    }

    /// The outcome of `transaction`; `None`, after a delay, when it conflicted with other transactions.
    async fn commit(
        &mut self,
        transaction: Transaction,
    ) -> Result<Option<CommitOutcome>, StoreError> {
        match transaction.commit().await {
            Err(StoreError::TransactionConflict) => self
                .pause(StoreError::TransactionConflict)
                .await
                .map(|()| None),
            outcome => outcome.map(Some),
        }
    }

    /// Waits before the next attempt, or returns `error` when the deadline comes first.
    async fn pause(&mut self, error: StoreError) -> Result<(), StoreError> {
        self.count = MAX_BACKOFF.min(self.count + 1);
        let pause = pause(self.count)?;
        if Instant::now() + pause >= self.deadline {
            return Err(error);
        }
        sleep(pause).await;
        Ok(())
    }
}
