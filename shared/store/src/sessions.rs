//! Sessions and sign-ins.

use std::time::Duration;

use domain::{
    CommitteeId, Instant, SessionId, UserId, committee::Committee, login_activity::LoginActivity,
    otp::Enrolment, session::Session, user::User,
};

use crate::{
    CommitOutcome, Page, Part, Store, StoreError, Transaction,
    keys::{self, LOGIN_PREFIX, SESSION_PREFIX, Table},
    table::{Carded, read, ttl},
    users::living,
    write::Write,
};

/// How long a sign-in stays in the list.
const ACTIVITY_KEPT: Duration = Duration::from_secs(180 * 86_400);

impl Store {
    /// Begins `session` and notes its sign-in, together with what stands in `beside`. Gives the sign-in
    /// as it was noted: its id moves up by one while another of the same microsecond stands there.
    /// The inner error is the part of `beside` that was refused: then nothing has begun.
    ///
    /// # Errors
    /// When the store is out of reach or two hundred sign-ins share a microsecond.
    pub async fn sign_in(
        &self,
        session: &Session,
        mut activity: LoginActivity,
        beside: Transaction,
    ) -> Result<Result<LoginActivity, Part>, StoreError> {
        for _ in 0..200 {
            let begun = keys::session(session.user_id, session.sid)
                .holding(session)
                .with([ttl(session.expires_at)]);
            let noted = keys::login(session.user_id, activity.login_activity_id)
                .holding(&activity)
                .with([ttl(activity.created_at.after(ACTIVITY_KEPT))]);
            let mut sign_in = beside.clone();
            sign_in.put(Part::Session, begun);
            sign_in.put_new(Part::Login, noted);
            match sign_in.commit().await? {
                CommitOutcome::Committed => return Ok(Ok(activity)),
                CommitOutcome::ConditionFailed(Part::Login) => activity.login_activity_id += 1,
                CommitOutcome::ConditionFailed(part) => return Ok(Err(part)),
            }
        }
        Err(StoreError::TransactionConflict)
    }

    /// What a token of `user` tells of: the session `sid`, whether it is still alive or not, the person and the
    /// committee. One request.
    pub async fn caller(
        &self,
        user: UserId,
        sid: SessionId,
        committee: CommitteeId,
    ) -> Result<(Option<Session>, Option<User>, Option<Committee>), StoreError> {
        let items = self
            .get_each([
                keys::session(user, sid),
                keys::user(user),
                keys::committee(committee),
            ])
            .await?;
        let [session, user, committee] = items;
        Ok((
            read(session)?,
            living(read(user)?),
            read::<Carded<_>>(committee)?.map(|item| item.card),
        ))
    }

    /// What a sign-in of `user` needs: the person, the committee, and the one-time password secret that is being tried
    /// out, dead or alive. One request.
    pub async fn arrival(
        &self,
        user: UserId,
        committee: CommitteeId,
    ) -> Result<(Option<User>, Option<Committee>, Option<Enrolment>), StoreError> {
        let items = self
            .get_each([
                keys::user(user),
                keys::committee(committee),
                keys::enrolment(user),
            ])
            .await?;
        let [user, committee, enrolment] = items;
        Ok((
            living(read(user)?),
            read::<Carded<_>>(committee)?.map(|item| item.card),
            read(enrolment)?,
        ))
    }

    /// The sessions of `user` that are alive at `now`, newest first, of the last 100 that began.
    pub async fn sessions(&self, user: &User, now: Instant) -> Result<Vec<Session>, StoreError> {
        let pk = keys::user(user.user_id).pk;
        let mut sessions: Vec<Session> = self
            .newest(Table::Transient, &pk, SESSION_PREFIX, None, 100)
            .await?
            .items;
        sessions.retain(|session| session.is_alive(user, now));
        Ok(sessions)
    }

    /// Ends the session `sid` of `user`: whether there was one that had not ended at `now`.
    pub async fn end_session(
        &self,
        user: &User,
        sid: SessionId,
        now: Instant,
    ) -> Result<bool, StoreError> {
        let delete = Write::at(&keys::session(user.user_id, sid))
            .when("epoch = :epoch AND expiresAt > :now")
            .number(":epoch", user.epoch)
            .value(":now", &now);
        let mut end = self.transaction();
        end.delete(Part::Session, delete);
        Ok(end.commit().await? == CommitOutcome::Committed)
    }

    /// The last `limit` sign-ins of `user`, newest first.
    pub async fn login_activity(
        &self,
        user: UserId,
        limit: u16,
        now: Instant,
    ) -> Result<Vec<LoginActivity>, StoreError> {
        Ok(self
            .login_activity_page(user, None, limit, now)
            .await?
            .items)
    }

    /// At most `limit` sign-ins of `user` before `position`, newest first.
    pub async fn login_activity_page(
        &self,
        user: UserId,
        position: Option<&str>,
        limit: u16,
        now: Instant,
    ) -> Result<Page<LoginActivity>, StoreError> {
        let mut page: Page<LoginActivity> = self
            .newest(
                Table::Records,
                &keys::user(user).pk,
                LOGIN_PREFIX,
                position,
                limit,
            )
            .await?;
        page.items
            .retain(|entry| now < entry.created_at.after(ACTIVITY_KEPT));
        Ok(page)
    }

    /// Removes the sign-ins of `user`, at most a hundred: whether any were left to remove.
    pub async fn forget_login_activity(&self, user: UserId) -> Result<bool, StoreError> {
        let pk = keys::user(user).pk;
        let page: Page<LoginActivity> = self
            .newest(Table::Records, &pk, LOGIN_PREFIX, None, 100)
            .await?;
        let mut forget = self.transaction();
        for entry in &page.items {
            forget.remove(Part::Login, &keys::login(user, entry.login_activity_id));
        }
        let _ = forget.commit().await?;
        Ok(page.last.is_some())
    }

    /// Removes the sessions of `user`, dead or alive, at most a hundred: whether any were left to remove.
    pub async fn forget_sessions(&self, user: UserId) -> Result<bool, StoreError> {
        let pk = keys::user(user).pk;
        let page: Page<Session> = self
            .newest(Table::Transient, &pk, SESSION_PREFIX, None, 100)
            .await?;
        let mut forget = self.transaction();
        for session in &page.items {
            forget.remove(Part::Session, &keys::session(user, session.sid));
        }
        let _ = forget.commit().await?;
        Ok(page.last.is_some())
    }

    /// Notes that `user` is active at `now` in session `sid`. Never moves the time back, and never
    /// brings a session back that has ended.
    pub async fn touch(
        &self,
        user_id: UserId,
        sid: SessionId,
        now: Instant,
    ) -> Result<(), StoreError> {
        let user = Write::at(&keys::user(user_id))
            .when("card.lastActive < :now")
            .expression("SET card.lastActive = :now")
            .value(":now", &now);
        let session = Write::at(&keys::session(user_id, sid))
            .when("lastActive < :now")
            .expression("SET lastActive = :now")
            .value(":now", &now);
        let (user, session) = tokio::join!(self.apply(user), self.apply(session));
        user.and(session).map(|_| ())
    }
}
