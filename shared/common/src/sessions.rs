//! Beginning sessions and showing people themselves: what every way of signing in ends in.

use std::time::Duration;

use domain::{
    Instant, SessionId,
    committee::Committee,
    login_activity::LoginActivity,
    session::{Method, Session},
    user::{Account, SelfView, User},
};
use identity::{
    chance,
    sealing::Sealer,
    token::{Grant, Signer, Use},
    totp,
};
use store::Store;

use crate::{BadSetting, Client, Failure, Setup, SignedIn};

/// The power to sign people in: only functions that do so hold it.
#[derive(Clone)]
pub struct Sessions {
    store: Store,
    signer: Signer,
    sealer: Sealer,
    usual: Lives,
    strict: Lives,
}

/// How long things live.
#[derive(Debug, Clone, Copy)]
struct Lives {
    token: Duration,
    session: Duration,
}

/// The one-time password step of a sign-in may take this long.
const OTP_STEP: Duration = Duration::from_secs(5 * 60);

impl Sessions {
    /// The power, from the keys of `setup`.
    ///
    /// # Errors
    /// When a key is missing or malformed.
    pub fn new(setup: &Setup) -> Result<Self, BadSetting> {
        let settings = &setup.settings;
        Ok(Self {
            store: setup.store.clone(),
            signer: setup.keys.signer()?,
            sealer: setup.keys.sealer()?,
            usual: Lives { token: settings.access_token, session: settings.session },
            strict: Lives { token: settings.access_token_strict, session: settings.session_strict },
        })
    }

    const fn lives(&self, is_strict: bool) -> Lives {
        if is_strict { self.strict } else { self.usual }
    }

    /// Begins a session of `user`, who proved himself by `amr`, and shows him himself; `earlier` are
    /// his last sign-ins, newest first.
    ///
    /// # Errors
    /// When the store is out of reach: then nothing has begun.
    pub async fn begin(
        &self,
        user: User,
        committee: Committee,
        mut earlier: Vec<LoginActivity>,
        amr: Vec<Method>,
        client: &Client,
        now: Instant,
    ) -> Result<SelfView, Failure> {
        let session = Session {
            sid: SessionId::new(chance::id(now)),
            user_id: user.user_id,
            created_at: now,
            last_active: now,
            expires_at: now.after(self.lives(user.is_strict()).session),
            epoch: user.epoch,
            auth_time: now,
            amr,
            ip: client.ip.to_string(),
            agent: client.agent.clone(),
        };
        let activity = LoginActivity::new(user.user_id, client.ip.to_string(), client.agent.clone(), now);
        let activity = self.store.sign_in(&session, activity).await?;
        earlier.insert(0, activity);
        let token = self.fresh_token(&user, &session, now)?;
        Ok(self.self_view(user, committee, earlier, token))
    }

    /// `person` himself with his last sign-ins and his token: the one that he came with until half
    /// of its life is gone, then a fresh one of the same session.
    ///
    /// # Errors
    /// When a fresh token cannot be signed.
    pub fn show(&self, person: SignedIn, activity: Vec<LoginActivity>, now: Instant) -> Result<SelfView, Failure> {
        let SignedIn { user, committee, session, claims, token } = person;
        let half_gone = now.unix_seconds() - claims.iat >= (claims.exp - claims.iat) / 2;
        let can_last_longer = claims.exp < session.expires_at.unix_seconds();
        let token = if half_gone && can_last_longer { self.fresh_token(&user, &session, now)? } else { token };
        Ok(self.self_view(user, committee, activity, token))
    }

    /// The token that opens the one-time password step, alone, for five minutes.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn otp_step(&self, user: &User, amr: Vec<Method>, now: Instant) -> Result<String, Failure> {
        let grant = Grant {
            user_id: user.user_id,
            session_id: SessionId::new(chance::id(now)),
            issued: now,
            expires: now.after(OTP_STEP),
            auth_time: now,
            amr,
            committee_id: user.committee_id,
        };
        Ok(format!("Bearer {}", self.signer.sign(Use::OtpStep, &grant)?))
    }

    fn fresh_token(&self, user: &User, session: &Session, now: Instant) -> Result<String, Failure> {
        let grant = Grant {
            user_id: user.user_id,
            session_id: session.sid,
            issued: now,
            expires: now.after(self.lives(user.is_strict()).token).min(session.expires_at),
            auth_time: session.auth_time,
            amr: session.amr.clone(),
            committee_id: user.committee_id,
        };
        Ok(self.signer.sign(Use::Access, &grant)?)
    }

    fn self_view(&self, user: User, committee: Committee, activity: Vec<LoginActivity>, token: String) -> SelfView {
        let secrets = totp::shown(&self.sealer, user.user_id, &user.email, user.is_otp_verified);
        SelfView::new(Account::of(user, committee), activity, secrets, format!("Bearer {token}"))
    }
}
