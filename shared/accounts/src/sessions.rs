//! Beginning sessions and showing people themselves: what every way of signing in ends in.

use std::time::Duration;

use common::{ApiError, Client, Lives, SignedIn, bearer};
use domain::{
    CommitteeId, Instant, SessionId, UserId,
    committee::Committee,
    login_activity::LoginActivity,
    otp::Enrolment,
    outbox::News,
    session::{Method, Session},
    user::{Account, SelfView, User},
};
use http::HeaderMap;
use identity::{
    chance,
    outbox::Post,
    sealing::Sealer,
    token::{Claims, Grant, Signer, Use, Verifier},
    totp::{self, Secret},
};
use runtime::{ConfigError, Key};
use store::{Part, Setup, Store, StoreError, Transaction};

/// The power to sign people in: only functions that do so hold it.
#[derive(Clone)]
pub struct Sessions {
    store: Store,
    signer: Signer,
    verifier: Verifier,
    sealer: Sealer,
    post: Post,
    lives: Lives,
}

/// The one-time password step of a sign-in may take this long.
const OTP_STEP: Duration = Duration::from_secs(5 * 60);
/// A password-less request may be completed for this long.
const PASSWORDLESS_STEP: Duration = domain::code::LIFE;

/// A person, and what is shown of him when he signs in.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The person.
    pub user: User,
    /// His committee.
    pub committee: Committee,
    /// His last sign-ins, newest first.
    pub activity: Vec<LoginActivity>,
    /// The one-time password secret that he is trying out.
    pub enrolment: Option<Enrolment>,
}

impl Sessions {
    /// The power, from the keys and the settings (those of [`Lives::of`]) of `setup`.
    ///
    /// # Errors
    /// When one of them is missing or malformed.
    pub fn new(setup: &Setup) -> Result<Self, ConfigError> {
        Ok(Self {
            store: setup.store.clone(),
            signer: setup.keys.parse(Key::TokenSigning)?,
            verifier: setup.keys.parse(Key::TokenPublic)?,
            sealer: setup.keys.parse(Key::Sealing)?,
            post: setup.keys.parse(Key::Outbox)?,
            lives: Lives::of(&setup.settings)?,
        })
    }

    /// Whoever `id` is, with what is shown of him; `committee` is where he is thought to belong. One
    /// round trip where that is right.
    ///
    /// # Errors
    /// When the store is out of reach.
    pub async fn find(
        &self,
        id: UserId,
        committee: CommitteeId,
        now: Instant,
    ) -> Result<Option<Arrival>, ApiError> {
        let (found, activity) = tokio::join!(
            self.store.arrival(id, committee),
            self.store.login_activity(id, SelfView::ACTIVITY, now)
        );
        let ((Some(user), read, enrolment), activity) = (found?, activity?) else {
            return Ok(None);
        };
        let read = if user.committee_id == committee {
            read
        } else {
            self.store.committee(user.committee_id).await?
        };
        let committee = read
            .ok_or_else(|| StoreError::Unexpected("a user's committee is not there".to_owned()))?;
        Ok(Some(Arrival {
            user,
            committee,
            activity,
            enrolment,
        }))
    }

    /// Begins a session of the person who arrives and proved himself by `amr`, together with what stands
    /// in `beside`, and shows him himself. He is told of a device that none of his last sign-ins had. The
    /// inner error is the part of `beside` that was refused.
    ///
    /// # Errors
    /// When the store is out of reach: then nothing has begun.
    pub async fn begin(
        &self,
        mut arrival: Arrival,
        amr: Vec<Method>,
        client: &Client,
        now: Instant,
        mut beside: Transaction,
    ) -> Result<Result<SelfView, Part>, ApiError> {
        let user = &arrival.user;
        let session = Session {
            sid: SessionId::new(chance::id(now)),
            user_id: user.user_id,
            created_at: now,
            last_active: now,
            expires_at: now.after(self.lives.session(user)),
            epoch: user.epoch,
            auth_time: now,
            amr,
            ip: client.ip.to_string(),
            agent: client.agent.clone(),
        };
        let activity = LoginActivity::new(
            user.user_id,
            client.ip.to_string(),
            client.place.clone(),
            client.agent.clone(),
            now,
        );
        let is_new = !arrival.activity.is_empty()
            && arrival
                .activity
                .iter()
                .all(|entry| entry.agent != client.agent);
        if is_new {
            let news = News::NewDevice {
                agent: client.agent.clone(),
                ip: client.ip.to_string(),
                at: now,
            };
            beside.send(&self.post.tell(user, news, now)?);
        }
        let activity = match self.store.sign_in(&session, activity, beside).await? {
            Ok(activity) => activity,
            Err(part) => return Ok(Err(part)),
        };
        arrival.activity.insert(0, activity);
        let token = self.fresh_token(&arrival.user, &session, now)?;
        Ok(Ok(self.self_view(arrival, token, now)))
    }

    /// `person` himself with his last sign-ins and his token: the one that he came with until half
    /// of its life is gone, then a fresh one of the same session.
    ///
    /// # Errors
    /// When a fresh token cannot be signed.
    pub fn show(
        &self,
        person: SignedIn,
        activity: Vec<LoginActivity>,
        enrolment: Option<Enrolment>,
        now: Instant,
    ) -> Result<SelfView, ApiError> {
        let SignedIn {
            user,
            committee,
            session,
            claims,
            token,
        } = person;
        let allowed = i64::try_from(self.lives.token(&user).as_secs()).unwrap_or(i64::MAX);
        let life = (claims.exp - claims.iat).min(allowed);
        let half_gone = now.unix_seconds() - claims.iat >= life / 2;
        let can_last_longer = claims.iat + life < session.expires_at.unix_seconds();
        let token = if half_gone && can_last_longer {
            self.fresh_token(&user, &session, now)?
        } else {
            token
        };
        Ok(self.self_view(
            Arrival {
                user,
                committee,
                activity,
                enrolment,
            },
            token,
            now,
        ))
    }

    /// The person who arrives himself, with a fresh token of `session`, which was just changed.
    ///
    /// # Errors
    /// When a fresh token cannot be signed.
    pub fn show_fresh(
        &self,
        arrival: Arrival,
        session: &Session,
        now: Instant,
    ) -> Result<SelfView, ApiError> {
        let token = self.fresh_token(&arrival.user, session, now)?;
        Ok(self.self_view(arrival, token, now))
    }

    /// `session` as it is after `user` has just proved himself again by `method`, and all others ended.
    pub fn renewed(&self, session: &Session, user: &User, method: Method, now: Instant) -> Session {
        let mut renewed = session.clone();
        renewed.epoch = user.epoch;
        renewed.auth_time = now;
        renewed.expires_at = session
            .expires_at
            .min(session.created_at.after(self.lives.session(user)));
        if !renewed.amr.contains(&method) {
            renewed.amr.push(method);
        }
        renewed
    }

    /// The token that opens the one-time password step, alone, for five minutes.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn otp_step(
        &self,
        user: &User,
        amr: Vec<Method>,
        now: Instant,
    ) -> Result<String, ApiError> {
        let grant = Grant {
            user_id: user.user_id,
            session_id: SessionId::new(chance::id(now)),
            issued: now,
            expires: now.after(OTP_STEP),
            auth_time: now,
            amr,
            committee_id: user.committee_id,
            epoch: Some(user.epoch),
        };
        Ok(format!(
            "Bearer {}",
            self.signer.sign(Use::OtpStep, &grant)?
        ))
    }

    /// The token that the six digits of the password-less code at `place` go with. It tells nothing of
    /// whether anybody has the address.
    ///
    /// # Errors
    /// When it cannot be signed.
    pub fn passwordless_step(&self, place: uuid::Uuid, now: Instant) -> Result<String, ApiError> {
        let grant = Grant {
            user_id: UserId::new(place),
            session_id: SessionId::new(chance::id(now)),
            issued: now,
            expires: now.after(PASSWORDLESS_STEP),
            auth_time: now,
            amr: Vec::new(),
            committee_id: CommitteeId::in_path(""),
            epoch: None,
        };
        Ok(format!(
            "Bearer {}",
            self.signer.sign(Use::PasswordlessStep, &grant)?
        ))
    }

    /// What the token of a step says that came with a request, if one came and is good at `now`.
    pub fn step(&self, headers: &HeaderMap, usage: Use, now: Instant) -> Option<Claims> {
        self.verifier.verify(bearer(headers)?, usage, now)
    }

    fn fresh_token(
        &self,
        user: &User,
        session: &Session,
        now: Instant,
    ) -> Result<String, ApiError> {
        let grant = Grant {
            user_id: user.user_id,
            session_id: session.sid,
            issued: now,
            expires: now
                .after(self.lives.token(user))
                .min(session.expires_at)
                .min(session.created_at.after(self.lives.session(user))),
            auth_time: session.auth_time,
            amr: session.amr.clone(),
            committee_id: user.committee_id,
            epoch: None,
        };
        Ok(self.signer.sign(Use::Access, &grant)?)
    }

    fn self_view(&self, arrival: Arrival, token: String, now: Instant) -> SelfView {
        let Arrival {
            user,
            committee,
            activity,
            enrolment,
        } = arrival;
        let alive = enrolment.filter(|enrolment| enrolment.is_alive(now));
        let tried_out = alive.and_then(|enrolment| {
            Secret::open(
                &enrolment.sealed,
                &self.sealer,
                &totp::place_tried_out(user.user_id),
            )
            .ok()
        });
        let secrets = totp::shown(
            &self.sealer,
            user.user_id,
            &user.email,
            user.is_otp_verified,
            tried_out.as_ref(),
        );
        SelfView::new(
            Account::of(user, committee),
            activity,
            secrets,
            format!("Bearer {token}"),
        )
    }
}
