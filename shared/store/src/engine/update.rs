//! Optimistic updates: read, decide, write on condition of the version that was read; retried after concurrent
//! changes.

use std::future::Future;

use domain::{Instant, session::Session, user::User};

use crate::{CommitOutcome, Part, Store, StoreError, Transaction, retry::Retries};

impl Store {
    /// Calls `attempt`, which reads, decides and prepares a transaction, commits the transaction and returns the
    /// other value of `attempt`. Repeats this with random delays until the deadline when a condition fails, unless
    /// `on_failed` maps the part to an error.
    ///
    /// # Errors
    /// Those of `attempt` and `on_failed`; [`StoreError::TransactionConflict`] when concurrent changes made every attempt
    /// fail until the deadline.
    pub async fn update<T, E: From<StoreError>, A: Future<Output = Result<(Transaction, T), E>>>(
        &self,
        mut attempt: impl FnMut() -> A,
        on_failed: impl Fn(Part) -> Option<E>,
    ) -> Result<T, E> {
        let mut retries = Retries::new();
        loop {
            let (transaction, result) = attempt().await?;
            match transaction.commit().await? {
                CommitOutcome::Committed => return Ok(result),
                CommitOutcome::ConditionFailed(part) => {
                    if let Some(error) = on_failed(part) {
                        return Err(error);
                    }
                }
            }
            retries.pause(StoreError::TransactionConflict).await?;
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
        let mut retries = Retries::new();
        loop {
            let mut additions = self.transaction();
            let after = decide(&user, &mut additions)?;
            // The account comes first: if it has changed, its condition is the one that is reported.
            let mut tx = self.transaction();
            tx.change_user(&user, &after);
            tx.append(additions);
            match tx.commit().await? {
                CommitOutcome::Committed => return Ok(after),
                CommitOutcome::ConditionFailed(Part::User) => {
                    retries.pause(StoreError::TransactionConflict).await?;
                }
                CommitOutcome::ConditionFailed(part) => return Err(on_failed(part)),
            }
            let read = self.user(user.user_id).await?;
            user = read.ok_or_else(|| on_failed(Part::User))?;
        }
    }

    /// As [`update_user`](Self::update_user), for a change that the owner of `user` makes in `session`, which `decide`
    /// gets as well. A session that does not fit the account is read again, as of one moment, before it is taken for
    /// ended: another request of it may have renewed it. Returns the account and the session.
    ///
    /// # Errors
    /// As [`update_user`](Self::update_user), and that of `on_failed` for `Part::Session` when the session has ended.
    pub async fn update_own<E: From<StoreError>>(
        &self,
        mut user: User,
        mut session: Session,
        now: Instant,
        mut decide: impl FnMut(&User, &Session, &mut Transaction) -> Result<User, E>,
        on_failed: impl Fn(Part) -> E,
    ) -> Result<(User, Session), E> {
        loop {
            let (id, mut fits) = (user.user_id, true);
            let decide = |user: &User, tx: &mut Transaction| {
                fits = session.is_valid(user, now);
                if fits { decide(user, &session, tx) } else { Err(on_failed(Part::Session)) }
            };
            let error = match self.update_user(user, decide, &on_failed).await {
                Ok(user) => return Ok((user, session)),
                Err(error) if fits => return Err(error),
                Err(error) => error,
            };
            // Every round needs a session that was renewed since the last one.
            let (stored, account) = self.session_at_one_moment(id, session.sid).await?;
            let renewed = stored.zip(account).filter(|(stored, account)| {
                stored.is_valid(account, now) && stored.epoch > session.epoch
            });
            (session, user) = renewed.ok_or(error)?;
        }
    }
}
