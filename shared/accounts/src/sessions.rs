//! Starts sessions, signs tokens, and builds the view of the own account that sign-ins return.

use std::{future::Future, time::Duration};

use common::{ApiError, Client, SignedIn, TokenLifetimes, bearer};
use domain::{
    CommitteeId, Instant, SessionId, UserId,
    amr::Method,
    code::Challenge,
    committee::Committee,
    device::KnownDevices,
    login_activity::LoginActivity,
    otp::Enrolment,
    outbox::AccountEvent,
    session::Session,
    user::{AccountWithCommittee, OwnAccount, User},
};
use http::HeaderMap;
use identity::{
    outbox::OutboxSealer,
    random,
    sealing::Sealer,
    token::{Claims, NewToken, Signer, TokenUse, Verifier},
    totp::{self, Secret},
};
use runtime::{ConfigError, Key};
use store::{CommitOutcome, Setup, Store, StoreError, StoredAccount, Transaction};

use crate::attempts::{Attempt, Failed};

/// Starts sessions and signs tokens. Needs the signing key, which only functions that sign people in have.
#[derive(Clone)]
pub struct Sessions {
    pub(crate) store: Store,
    pub(crate) signer: Signer,
    pub(crate) verifier: Verifier,
    sealer: Sealer,
    outbox: OutboxSealer,
    lifetimes: TokenLifetimes,
}

/// Lifetime of the pending token for the one-time password step.
const OTP_STEP_LIFETIME: Duration = Duration::from_secs(5 * 60);
/// Lifetime of the token for a passwordless sign-in: that of its code.
const PASSWORDLESS_STEP_LIFETIME: Duration = domain::code::LIFE;

/// An account with the data that a sign-in returns.
#[derive(Debug, Clone)]
pub struct AccountContext {
    /// The account.
    pub user: User,
    /// The committee of the account.
    pub committee: Committee,
    /// The last sign-ins, newest first.
    pub activity: Vec<LoginActivity>,
    /// The devices, address ranges and networks of earlier sign-ins.
    pub devices: KnownDevices,
    /// Whether this sign-in forgets them, because somebody else may have made the earlier ones.
    pub forgets_devices: bool,
}

impl Sessions {
    /// Reads the token, sealing and outbox keys, and the settings of [`TokenLifetimes::of`].
    ///
    /// # Errors
    /// When a key is missing or malformed, or a setting is invalid.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self {
            store: setup.store.clone(),
            signer: setup.keys.parse(Key::TokenSigning)?,
            verifier: setup.keys.parse(Key::TokenPublic)?,
            sealer: setup.keys.parse(Key::Sealing)?,
            outbox: setup.keys.parse(Key::Outbox)?,
            lifetimes: TokenLifetimes::of(&setup.settings)?,
        })
    }

    /// Loads the account `id`; `None` when it does not exist. `committee` is its expected committee: if it is the
    /// actual one, loading takes one round trip, otherwise two.
    pub async fn find(
        &self,
        id: UserId,
        committee: CommitteeId,
        now: Instant,
    ) -> Result<Option<AccountContext>, ApiError> {
        let read = async {
            let account = self.store.account(id, committee).await;
            account.map(|account| (account, ()))
        };
        let (account, ()) = self.find_with(id, committee, read, now).await?;
        Ok(account)
    }

    /// As [`find`](Self::find), for `read`, which reads the account with something else, such as its credentials: both in
    /// the same number of requests.
    pub async fn find_with<T>(
        &self,
        id: UserId,
        committee: CommitteeId,
        read: impl Future<Output = Result<(StoredAccount, T), StoreError>>,
        now: Instant,
    ) -> Result<(Option<AccountContext>, T), ApiError> {
        let (found, activity) =
            tokio::join!(read, self.store.login_activity(id, OwnAccount::ACTIVITY, now));
        let ((account, other), activity) = (found?, activity?);
        let Some(user) = account.user else {
            return Ok((None, other));
        };
        let committee = self.store.committee_of(&user, committee, account.committee).await?;
        let devices = account.devices;
        let account = AccountContext { user, committee, activity, devices, forgets_devices: false };
        Ok((Some(account), other))
    }

    /// Starts a session for `account`, authenticated by the methods `amr`, in one transaction with the writes in `tx`,
    /// which also releases `attempt`, and returns the account with an access token. Notifies the account of a device or
    /// an address range that is new to it. After an error no session was started. The caller ends the attempt.
    ///
    /// # Errors
    /// [`Failed::Conflict`] with the part of `tx` whose condition failed.
    pub async fn begin(
        &self,
        mut account: AccountContext,
        amr: Vec<Method>,
        mut tx: Transaction,
        attempt: &mut Attempt<'_>,
    ) -> Result<OwnAccount, Failed> {
        let (client, now) = (attempt.client, attempt.now);
        let user = &account.user;
        let session = Session {
            sid: SessionId::new(random::id(now)),
            user_id: user.user_id,
            created_at: now,
            last_active: now,
            expires_at: now.after(self.lifetimes.session(user)),
            epoch: user.epoch,
            auth_time: now,
            amr,
            ip: client.ip.to_string(),
            agent: client.agent.clone(),
        };
        let mut activity = LoginActivity::new(
            user.user_id,
            client.ip.to_string(),
            client.place.clone(),
            client.agent.clone(),
            session.amr.clone(),
            now,
        );
        self.record_device(&account, client, now, &mut tx)?;
        let stored = self.store.sign_in(&session, &mut activity, tx, &mut attempt.reserved);
        if let CommitOutcome::ConditionFailed(part) = stored.await? {
            return Err(Failed::Conflict(part));
        }
        account.activity.insert(0, activity);
        let AccountContext { user, committee, activity, .. } = account;
        Ok(self.account_of_session(user, committee, activity, &session, now)?)
    }

    /// Adds the client's device and address range to those that the account knows, and a notification if one of them is
    /// new. The first sign-in of an account sends none: without a known device, `lastActive` tells whether there was an
    /// earlier session, and the device series whether the devices were forgotten.
    fn record_device(
        &self,
        account: &AccountContext,
        client: &Client,
        now: Instant,
        tx: &mut Transaction,
    ) -> Result<(), ApiError> {
        let user = &account.user;
        let known =
            if account.forgets_devices { KnownDevices::default() } else { account.devices.clone() };
        let is_first =
            known.is_empty() && user.last_active == user.created_at && user.device_series == 0;
        if !is_first && !account.forgets_devices && !known.includes(&client.agent, client.ip, now) {
            let (agent, ip) = (client.agent.clone(), client.ip.to_string());
            let event = AccountEvent::NewDevice { agent, ip, is_last: false };
            tx.send(&self.outbox.notify(user, event, now)?);
        }
        let known = known.with(&client.agent, client.ip, now);
        tx.change_devices(user.user_id, &account.devices, &known, now);
        Ok(())
    }

    /// The account of `person` with its last sign-ins and an access token: the one of the request, or after half of its
    /// lifetime a new one of the same session.
    pub fn account_of_request(
        &self,
        person: SignedIn,
        activity: Vec<LoginActivity>,
        enrolment: Option<Enrolment>,
        now: Instant,
    ) -> Result<OwnAccount, ApiError> {
        let SignedIn { user, committee, session, claims, token } = person;
        let allowed = i64::try_from(self.lifetimes.token(&user).as_secs()).unwrap_or(i64::MAX);
        let lifetime = (claims.exp - claims.iat).min(allowed);
        let is_half_over = now.unix_seconds() - claims.iat >= lifetime / 2;
        let can_be_extended = claims.iat + lifetime < session.expires_at.unix_seconds();
        let token = if is_half_over && can_be_extended {
            self.fresh_token(&user, &session, now)?
        } else {
            token
        };
        let enrolment = enrolment.filter(|enrolment| enrolment.is_valid(&session, now));
        let secret = enrolment.and_then(|enrolment| {
            Secret::open(&enrolment.sealed, &self.sealer, &totp::pending_context(user.user_id)).ok()
        });
        Ok(self.own_account(user, committee, activity, secret.as_ref(), token))
    }

    /// The account with a new access token of `session`.
    pub fn account_of_session(
        &self,
        user: User,
        committee: Committee,
        activity: Vec<LoginActivity>,
        session: &Session,
        now: Instant,
    ) -> Result<OwnAccount, ApiError> {
        let token = self.fresh_token(&user, session, now)?;
        Ok(self.own_account(user, committee, activity, None, token))
    }

    /// `session` after `user` proved `method` in it and ended all sessions by raising their epoch: it takes the new epoch,
    /// so it alone continues. The time of its sign-in stays: only signing in makes it younger.
    pub fn renewed(&self, session: &Session, user: &User, method: Method) -> Session {
        let mut renewed = session.clone();
        renewed.epoch = user.epoch;
        renewed.expires_at =
            session.expires_at.min(session.created_at.after(self.lifetimes.session(user)));
        if !renewed.amr.contains(&method) {
            renewed.amr.push(method);
        }
        renewed
    }

    /// Signs a pending token for the one-time password step of a sign-in: `Bearer …`, valid for five minutes. `amr` are
    /// the methods of the first step.
    pub fn otp_step(
        &self,
        user: &User,
        amr: Vec<Method>,
        now: Instant,
    ) -> Result<String, ApiError> {
        let new_token = NewToken {
            user_id: user.user_id,
            session_id: SessionId::new(random::id(now)),
            issued: now,
            expires: now.after(OTP_STEP_LIFETIME),
            auth_time: now,
            amr,
            committee_id: user.committee_id,
            epoch: Some(user.epoch),
        };
        Ok(format!("Bearer {}", self.signer.sign(TokenUse::OtpStep, &new_token)?))
    }

    /// Signs a token that must accompany the six digits of the passwordless code for `challenge`: `Bearer …`, valid as
    /// long as the code. It does not depend on whether the address has an account.
    pub fn passwordless_step(
        &self,
        challenge: Challenge,
        now: Instant,
    ) -> Result<String, ApiError> {
        let new_token = NewToken {
            user_id: UserId::new(challenge.0),
            session_id: SessionId::new(random::id(now)),
            issued: now,
            expires: now.after(PASSWORDLESS_STEP_LIFETIME),
            auth_time: now,
            amr: Vec::new(),
            committee_id: CommitteeId::NONE,
            epoch: None,
        };
        Ok(format!("Bearer {}", self.signer.sign(TokenUse::PasswordlessStep, &new_token)?))
    }

    /// The claims of the token in `headers`. `None` when there is none or it is not valid for `usage` at `now`.
    pub fn claims(&self, headers: &HeaderMap, usage: TokenUse, now: Instant) -> Option<Claims> {
        self.verifier.verify(bearer(headers)?, usage, now)
    }

    fn fresh_token(
        &self,
        user: &User,
        session: &Session,
        now: Instant,
    ) -> Result<String, ApiError> {
        let new_token = NewToken {
            user_id: user.user_id,
            session_id: session.sid,
            issued: now,
            expires: now
                .after(self.lifetimes.token(user))
                .min(session.expires_at)
                .min(session.created_at.after(self.lifetimes.session(user))),
            auth_time: session.auth_time,
            amr: session.amr.clone(),
            committee_id: user.committee_id,
            epoch: None,
        };
        Ok(self.signer.sign(TokenUse::Access, &new_token)?)
    }

    /// `pending` is the one-time password secret that the session of `token` is enrolling.
    fn own_account(
        &self,
        user: User,
        committee: Committee,
        activity: Vec<LoginActivity>,
        pending: Option<&Secret>,
        token: String,
    ) -> OwnAccount {
        let secrets = totp::shown_secrets(
            &self.sealer,
            user.user_id,
            &user.email,
            user.is_otp_verified,
            pending,
        );
        OwnAccount::new(
            AccountWithCommittee::of(user, committee),
            activity,
            secrets,
            format!("Bearer {token}"),
        )
    }
}
