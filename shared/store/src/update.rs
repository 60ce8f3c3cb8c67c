//! Optimistic updates: read, decide, write under the version that was read; again when others were faster.

use std::{future::Future, time::Duration};

use domain::user::User;
use tokio::time::{Instant, sleep};

use crate::{CommitOutcome, Part, Store, StoreError, Transaction, retry::pause};

/// How long an update is tried by a caller that has no deadline.
const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// The longest pause is that before the try of this number.
const LONGEST_PAUSE: u32 = 4;

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs `work`, whose updates are not tried again once `time` has passed.
pub async fn within<T>(time: Duration, work: impl Future<Output = T>) -> T {
    DEADLINE.scope(Instant::now() + time, work).await
}

impl Store {
    /// Commits the transaction that `attempt` prepares, and returns what stands beside it. `attempt` reads and
    /// decides; it is called again, after a random pause, when a condition of its transaction did not hold,
    /// until the request's deadline. `refused` may make an error of the part that was refused instead.
    ///
    /// # Errors
    /// Those of `attempt` and `refused`; [`StoreError::UpdateConflict`] when others were faster until the deadline.
    pub async fn update<T, E: From<StoreError>, A: Future<Output = Result<(Transaction, T), E>>>(
        &self,
        mut attempt: impl FnMut() -> A,
        refused: impl Fn(Part) -> Option<E>,
    ) -> Result<T, E> {
        let mut turns = Turns::new();
        loop {
            let (transaction, result) = attempt().await?;
            let part = match turns.commit(transaction).await? {
                Some(CommitOutcome::Committed) => return Ok(result),
                Some(CommitOutcome::ConditionFailed(part)) => part,
                None => continue,
            };
            if let Some(error) = refused(part) {
                return Err(error);
            }
            turns.pause(StoreError::UpdateConflict).await?;
        }
    }

    /// Writes the account that `decide` makes of `user`, together with what it adds to the transaction. When the
    /// account has changed meanwhile it is read again and decided anew. `refused` is the error for each other
    /// part that is refused, and for `Part::User` when the account is gone.
    ///
    /// # Errors
    /// Those of `decide` and `refused`, and as [`update`](Self::update).
    pub async fn update_user<E: From<StoreError>>(
        &self,
        mut user: User,
        mut decide: impl FnMut(&User, &mut Transaction) -> Result<User, E>,
        refused: impl Fn(Part) -> E,
    ) -> Result<User, E> {
        let mut turns = Turns::new();
        loop {
            let mut beside = self.transaction();
            let after = decide(&user, &mut beside)?;
            // First, so that a stale decision is told from a refused one.
            let mut change = self.transaction();
            change.change_user(&user, &after);
            change.append(beside);
            match turns.commit(change).await? {
                Some(CommitOutcome::Committed) => return Ok(after),
                Some(CommitOutcome::ConditionFailed(Part::User)) => {
                    turns.pause(StoreError::UpdateConflict).await?
                }
                Some(CommitOutcome::ConditionFailed(part)) => return Err(refused(part)),
                None => {}
            }
            let read = self.user(user.user_id).await?;
            user = read.ok_or_else(|| refused(Part::User))?;
        }
    }
}

/// The turns of one update.
struct Turns {
    deadline: Instant,
    tries: u32,
}

impl Turns {
    fn new() -> Self {
        let deadline = DEADLINE.try_with(|deadline| *deadline);
        Self {
            deadline: deadline.unwrap_or_else(|_| Instant::now() + DEFAULT_TIME),
            tries: 0,
        }
    }

    /// The outcome of `transaction`; `None` when other transactions held its items, and it is time to try again.
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

    /// Waits for the next turn, or gives `failed` back when the deadline comes first.
    async fn pause(&mut self, failed: StoreError) -> Result<(), StoreError> {
        self.tries = LONGEST_PAUSE.min(self.tries + 1);
        let pause = pause(self.tries)?;
        if Instant::now() + pause >= self.deadline {
            return Err(failed);
        }
        sleep(pause).await;
        Ok(())
    }
}
