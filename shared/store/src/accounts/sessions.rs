//! Sessions, the login activity of users, and the items that a request or a sign-in needs.

use std::array;

use domain::{
    CommitteeId, Instant, SessionId, UserId,
    committee::Committee,
    device::KnownDevices,
    login_activity::{self, LoginActivity},
    otp::Otp,
    session::Session,
    user::User,
};
use serde::Deserialize;
use serde_dynamo::from_attribute_value;

use crate::{
    CommitOutcome, Credentials, Page, Part, Reservation, Store, StoreError, Transaction,
    keys::{self, Key, LOGINS, SESSIONS, Table},
    table::{Item, card, read, ttl},
    users::unless_erased,
    write::Write,
};

/// An account as a sign-in reads it. Its items come from one BatchGetItem, and each of them may be of another moment:
/// conditions of the sign-in's transaction decide what must not have changed
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>).
#[derive(Debug)]
pub struct StoredAccount {
    /// The user, unless erased.
    pub user: Option<User>,
    /// The committee that was asked for.
    pub committee: Option<Committee>,
    /// The devices and address ranges of earlier sign-ins.
    pub devices: KnownDevices,
}

/// The sort key alone of an item.
#[derive(Deserialize)]
struct SortKey {
    sk: String,
}

impl Store {
    /// Creates `session` and its login activity in one transaction with `additions`, which also releases `reserved`, as
    /// [`Transaction::commit_and_release`]. The id of the activity, which is a time in microseconds, is increased until it is
    /// free.
    ///
    /// # Errors
    /// [`StoreError::TransactionConflict`] also when two hundred ids in a row are taken.
    pub async fn sign_in(
        &self,
        session: &Session,
        activity: &mut LoginActivity,
        additions: Transaction,
        reserved: &mut Reservation,
    ) -> Result<CommitOutcome, StoreError> {
        for _ in 0..200 {
            let session_put = keys::session(session.user_id, session.sid)
                .holding(session)
                .with([ttl(session.expires_at)]);
            let activity_put = keys::login(session.user_id, activity.login_activity_id)
                .holding(activity)
                .with([ttl(activity.created_at.after(login_activity::RETENTION))]);
            let mut tx = additions.clone();
            tx.put(Part::Session, session_put);
            tx.put_new(Part::Login, activity_put);
            match tx.commit_and_release(reserved).await? {
                CommitOutcome::ConditionFailed(Part::Login) => activity.login_activity_id += 1,
                outcome => return Ok(outcome),
            }
        }
        Err(StoreError::TransactionConflict)
    }

    /// The session `sid` of `user` (ended or not), the user and the committee, in one request.
    pub async fn caller(
        &self,
        user: UserId,
        sid: SessionId,
        committee: CommitteeId,
    ) -> Result<(Option<Session>, Option<User>, Option<Committee>), StoreError> {
        let keys = [keys::session(user, sid), keys::user(user), keys::committee(committee)];
        let [session, user, committee] = self.get_each(keys).await?;
        Ok((read(session)?, unless_erased(read(user)?), card(committee)?))
    }

    /// The session `sid` of `user` and the user, as of one moment. In [`caller`](Self::caller) a transaction may stand
    /// between the two reads, so that a session that was renewed with a new epoch looks as if it had ended
    /// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation>).
    pub async fn session_at_one_moment(
        &self,
        user: UserId,
        sid: SessionId,
    ) -> Result<(Option<Session>, Option<User>), StoreError> {
        let keys = [keys::session(user, sid), keys::user(user)];
        let [session, user] = self.snapshot(keys).await?;
        Ok((read(session)?, unless_erased(read(user)?)))
    }

    /// The user `id` and the devices, address ranges and networks of their sign-ins, in one request.
    pub async fn user_with_devices(
        &self,
        id: UserId,
    ) -> Result<(Option<User>, KnownDevices), StoreError> {
        let [user, devices] = self.get_each([keys::user(id), keys::devices(id)]).await?;
        Ok((unless_erased(read(user)?), known_devices(devices)))
    }

    /// The user `user`, the committee and the user's known devices, in one request.
    pub async fn account(
        &self,
        user: UserId,
        committee: CommitteeId,
    ) -> Result<StoredAccount, StoreError> {
        Ok(self.account_with(user, committee, []).await?.0)
    }

    /// As [`account`](Self::account), with the items at `others`.
    pub(crate) async fn account_with<const N: usize>(
        &self,
        user: UserId,
        committee: CommitteeId,
        others: [Key; N],
    ) -> Result<(StoredAccount, [Option<Item>; N]), StoreError> {
        let mut keys = vec![keys::user(user), keys::committee(committee), keys::devices(user)];
        keys.extend(others);
        let mut items = self.get_all(&keys).await?.into_iter();
        let mut next = || items.next().flatten();
        let account = StoredAccount {
            user: unless_erased(read(next())?),
            committee: card(next())?,
            devices: known_devices(next()),
        };
        Ok((account, array::from_fn(|_| next())))
    }

    /// As [`account`](Self::account), with the credentials.
    pub async fn account_with_credentials(
        &self,
        user: UserId,
        committee: CommitteeId,
    ) -> Result<(StoredAccount, Option<Credentials>), StoreError> {
        let others = [keys::credentials(user)];
        let (account, [credentials]) = self.account_with(user, committee, others).await?;
        Ok((account, read(credentials)?))
    }

    /// As [`account`](Self::account), with the one-time password secret, and whether the sign-in step `step` is
    /// completed.
    pub async fn account_at_step(
        &self,
        user: UserId,
        committee: CommitteeId,
        step: SessionId,
    ) -> Result<(StoredAccount, (Option<Otp>, bool)), StoreError> {
        let others = [keys::otp(user), keys::step(step)];
        let (account, [otp, step]) = self.account_with(user, committee, others).await?;
        Ok((account, (read(otp)?, step.is_some())))
    }

    /// The latest 100 sessions of `user` that are active at `now`, newest first. Ended ones are stored until they expire,
    /// so it reads up to a thousand.
    pub async fn sessions(&self, user: &User, now: Instant) -> Result<Vec<Session>, StoreError> {
        let (mut sessions, mut position) = (Vec::new(), None);
        for _ in 0..10 {
            let page = self.sessions_page(user, position.as_deref(), 100, now).await?;
            sessions.extend(page.items);
            position = page.last;
            if position.is_none() || sessions.len() >= 100 {
                break;
            }
        }
        sessions.truncate(100);
        Ok(sessions)
    }

    /// The sessions of `user` that are active at `now`, newest first, among at most `limit` after `position`.
    pub async fn sessions_page(
        &self,
        user: &User,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<Session>, StoreError> {
        let pk = keys::user(user.user_id).pk;
        let mut page: Page<Session> =
            self.newest(Table::Transient, &pk, SESSIONS, position, limit).await?;
        page.items.retain(|session| session.is_valid(user, now));
        Ok(page)
    }

    /// Ends the session `sid` of `user`, also if it was renewed since `user` was read. Returns whether it was active at `now`.
    pub async fn end_session(
        &self,
        user: &User,
        sid: SessionId,
        now: Instant,
    ) -> Result<bool, StoreError> {
        let delete = Write::at(&keys::session(user.user_id, sid))
            .when("epoch >= :epoch AND expiresAt > :now")
            .number(":epoch", user.epoch)
            .value(":now", &now);
        let mut tx = self.transaction();
        tx.delete(Part::Session, delete);
        Ok(tx.commit().await? == CommitOutcome::Committed)
    }

    /// The latest `limit` sign-ins of `user` within 180 days, newest first.
    pub async fn login_activity(
        &self,
        user: UserId,
        limit: u16,
        now: Instant,
    ) -> Result<Vec<LoginActivity>, StoreError> {
        Ok(self.login_activity_page(user, None, limit, now).await?.items)
    }

    /// At most `limit` sign-ins of `user` within 180 days after `position`, newest first.
    pub async fn login_activity_page(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<LoginActivity>, StoreError> {
        let pk = keys::user(user).pk;
        let page: Page<LoginActivity> =
            self.newest(Table::Records, &pk, LOGINS, position, limit).await?;
        Ok(page.take_while(|entry| now < entry.created_at.after(login_activity::RETENTION)))
    }

    /// Deletes at most 100 sign-ins of `user`. Returns whether there are more.
    pub async fn delete_login_activity(&self, user: UserId) -> Result<bool, StoreError> {
        self.delete_of(user, Table::Records, LOGINS, Part::Login).await
    }

    /// Deletes at most 100 sessions of `user`, ended or not. Returns whether there are more.
    pub async fn delete_sessions(&self, user: UserId) -> Result<bool, StoreError> {
        self.delete_of(user, Table::Transient, SESSIONS, Part::Session).await
    }

    async fn delete_of(
        &self,
        user: UserId,
        table: Table,
        prefix: &str,
        part: Part,
    ) -> Result<bool, StoreError> {
        let pk = keys::user(user).pk;
        let page: Page<SortKey> = self.newest(table, &pk, prefix, None, 100).await?;
        let mut tx = self.transaction();
        for SortKey { sk } in page.items {
            tx.remove(part, &Key { table, pk: pk.clone(), sk });
        }
        let _ = tx.commit().await?;
        Ok(page.last.is_some())
    }

    /// Deletes the known devices of `user`.
    pub async fn delete_devices(&self, user: UserId) -> Result<(), StoreError> {
        let mut tx = self.transaction();
        tx.forget_devices(user);
        tx.commit().await.map(|_| ())
    }

    /// Sets `lastActive` of `user_id` and of the session `sid` to `now`. Never moves the time back and never
    /// recreates an ended session.
    pub async fn touch(
        &self,
        user_id: UserId,
        sid: SessionId,
        now: Instant,
    ) -> Result<(), StoreError> {
        let user = Write::at(&keys::user(user_id))
            .when("lastActive < :now")
            .expression("SET lastActive = :now")
            .value(":now", &now);
        let session = Write::at(&keys::session(user_id, sid))
            .when("lastActive < :now")
            .expression("SET lastActive = :now")
            .value(":now", &now);
        let (user, session) = tokio::join!(self.apply(user), self.apply(session));
        user.and(session).map(|_| ())
    }
}

impl Transaction {
    /// Deletes the known devices of `user`.
    pub fn forget_devices(&mut self, user: UserId) {
        self.remove(Part::Devices, &keys::devices(user));
    }

    /// Replaces the known devices `before` of `user` by `after`, entry by entry, so that concurrent sign-ins keep each
    /// other's entries.
    pub fn change_devices(
        &mut self,
        user: UserId,
        before: &KnownDevices,
        after: &KnownDevices,
        now: Instant,
    ) {
        let (before, after) = (before.entries(), after.entries());
        let changed = after.iter().filter(|(name, at)| before.get(*name) != Some(*at));
        let removed = before.keys().filter(|name| !after.contains_key(*name));
        let mut update = Write::at(&keys::devices(user));
        for (name, at) in changed {
            update = update.set_value(&[name], at);
        }
        for name in removed {
            update = update.unset(&[name]);
        }
        if !update.has_changes() {
            return;
        }
        let (name, end) = ttl(now.after(login_activity::RETENTION));
        let update = update.set(&[&name], end);
        self.update(Part::Devices, update);
    }
}

/// All lists of the item are devices, address ranges and networks.
fn known_devices(item: Option<Item>) -> KnownDevices {
    let entries = item.unwrap_or_default().into_iter();
    entries.filter_map(|(name, at)| Some((name, from_attribute_value(at).ok()?))).collect()
}
