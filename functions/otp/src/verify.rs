//! `POST /otp/verify`: the step of a sign-in, or the first good code of a secret that is being tried out.

use accounts::{Arrival, attempts};
use axum::extract::{FromRequestParts, State};
use common::{
    ApiError, ApiResult, Client, Fields, FromFields, Input, Message, Now, SignedIn, success,
};
use domain::{
    Instant,
    otp::{Enrolment, Otp as Kept, Proof},
    outbox::News,
    session::Method,
    user::{SelfView, User},
};
use http::request::Parts;
use identity::{
    token::{Claims, Use},
    totp::{self, Secret},
};
use serde::Serialize;
use store::{Part, Transaction};

use crate::{Answered, Otp, invalid, new_recovery, refused};

/// Who answers: somebody in the middle of signing in, or somebody who has.
pub(crate) enum Answering {
    SigningIn(Box<Claims>),
    Enrolling(Box<SignedIn>),
}

impl FromRequestParts<Otp> for Answering {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, otp: &Otp) -> Result<Self, ApiError> {
        let Ok(Now(now)) = Now::from_request_parts(parts, otp).await;
        match otp.sessions.step(&parts.headers, Use::OtpStep, now) {
            Some(claims) => Ok(Self::SigningIn(Box::new(claims))),
            None => Ok(Self::Enrolling(Box::new(
                <SignedIn as FromRequestParts<Otp>>::from_request_parts(parts, otp).await?,
            ))),
        }
    }
}

impl<S> FromFields<S> for Answered {
    fn from_fields(fields: &mut Fields, _: &S) -> Option<Self> {
        Self::read(fields)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VerifyOtpResponse {
    user: SelfView,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_codes: Option<Vec<String>>,
}

pub(crate) async fn verify(
    State(otp): State<Otp>,
    Now(now): Now,
    client: Client,
    answering: Answering,
    answered: Result<Input<Answered>, ApiError>,
) -> ApiResult<VerifyOtpResponse> {
    let verified = match (answering, answered) {
        (Answering::SigningIn(claims), Ok(Input(answered))) => {
            otp.sign_in(*claims, &answered, &client, now).await?
        }
        (Answering::Enrolling(person), Ok(Input(answered))) => {
            otp.enrol(*person, &answered, now).await?
        }
        // A step that is over is told before what is wrong with the body.
        (Answering::SigningIn(claims), Err(failure)) => {
            otp.find_open(&claims, now)
                .await?
                .ok_or_else(ApiError::invalid_token)?;
            return Err(failure);
        }
        (Answering::Enrolling(_), Err(failure)) => return Err(failure),
    };
    let token = verified.user.token().to_owned();
    success(Message::OtpVerified, verified).map(|told| told.authorized(&token))
}

impl Otp {
    /// The code and the step are used up and the session begins in one transaction: of many at once exactly
    /// one gets it.
    async fn sign_in(
        &self,
        claims: Claims,
        answered: &Answered,
        client: &Client,
        now: Instant,
    ) -> Result<VerifyOtpResponse, ApiError> {
        let counters = answered.counters(claims.sub, &claims.sid.to_string());
        let (reserved, arrival, kept) = tokio::join!(
            attempts::reserve(&self.store, &counters, now),
            self.find_open(&claims, now),
            self.store.otp(claims.sub)
        );
        let (arrival, kept) = match (arrival, kept) {
            (Ok(Some(arrival)), Ok(kept)) => (arrival, kept),
            (arrival, kept) => {
                if let Ok(reserved) = reserved {
                    // What cannot be given back stays taken until its window ends.
                    let _ = self.store.give_back(reserved).await;
                }
                arrival?.ok_or_else(ApiError::invalid_token)?;
                return Err(kept.map_or_else(ApiError::from, |_| invalid()));
            }
        };
        let reserved = reserved?;
        let (Some(kept), Some(proof)) =
            (&kept, answered.proof(self, claims.sub, kept.as_ref(), now)?)
        else {
            return Err(invalid());
        };
        let begin = self.begin(arrival, &claims, kept, &proof, client, now);
        // Places that cannot be given back are free when their windows end.
        let (begun, _) = tokio::join!(begin, self.store.give_back(reserved));
        Ok(VerifyOtpResponse {
            user: begun?,
            recovery_codes: None,
        })
    }

    /// Whoever is in the middle of signing in, unless the step was done, or the account closed or signed out
    /// everywhere since it began.
    async fn find_open(&self, claims: &Claims, now: Instant) -> Result<Option<Arrival>, ApiError> {
        let (is_done, arrival) = tokio::join!(
            self.store.is_step_done(claims.sid),
            self.sessions.find(claims.sub, claims.cid, now)
        );
        let is_open =
            |user: &User| user.is_active && user.is_otp_enabled && Some(user.epoch) == claims.epoch;
        let is_done = is_done?;
        Ok(arrival?.filter(|arrival| !is_done && is_open(&arrival.user)))
    }

    async fn begin(
        &self,
        arrival: Arrival,
        claims: &Claims,
        kept: &Kept,
        proof: &Proof,
        client: &Client,
        now: Instant,
    ) -> Result<SelfView, ApiError> {
        let mut beside = self.store.transaction();
        beside.end_step(claims.sid, now);
        beside.use_proof(claims.sub, proof);
        let method = match proof {
            Proof::Step(_) => Method::Otp,
            Proof::Recovery(_) => {
                let news = News::RecoveryCodeUsed {
                    left: kept.recovery.len().saturating_sub(1),
                    at: now,
                };
                beside.send(&self.post.tell(&arrival.user, news, now)?);
                Method::Recovery
            }
        };
        let amr = claims.amr.iter().copied().chain([method]).collect();
        match self
            .sessions
            .begin(arrival, amr, client, now, beside)
            .await?
        {
            Ok(view) => Ok(view),
            Err(Part::Step) => Err(ApiError::invalid_token()),
            Err(_) => Err(invalid()),
        }
    }

    /// The secret is in force, every other session over, and the owner told. This session goes on, as one
    /// whose owner has just proved himself.
    async fn enrol(
        &self,
        person: SignedIn,
        answered: &Answered,
        now: Instant,
    ) -> Result<VerifyOtpResponse, ApiError> {
        let (id, Answered::Code(code)) = (person.user.user_id, answered) else {
            return Err(invalid());
        };
        let enrolment = self
            .store
            .enrolment(id)
            .await?
            .filter(|enrolment| enrolment.is_alive(now))
            .ok_or_else(invalid)?;
        let secret = Secret::open(&enrolment.sealed, &self.sealer, &totp::place_tried_out(id))?;
        let Some(step) = secret.step_of(code.as_str(), now, 0) else {
            self.store.count_enrolment_try(id, &enrolment).await?;
            return Err(invalid());
        };
        let (recovery_codes, recovery) = new_recovery(&secret);
        let kept = Kept {
            sealed: secret.seal(&self.sealer, &totp::place_in_force(id))?,
            last_step: step,
            recovery,
        };
        let user = self.put_in_force(person, &enrolment, &kept, now).await?;
        Ok(VerifyOtpResponse {
            user,
            recovery_codes: Some(recovery_codes),
        })
    }

    async fn put_in_force(
        &self,
        person: SignedIn,
        enrolment: &Enrolment,
        kept: &Kept,
        now: Instant,
    ) -> Result<SelfView, ApiError> {
        let SignedIn {
            user,
            committee,
            session,
            ..
        } = person;
        let activity = self
            .store
            .login_activity(user.user_id, SelfView::ACTIVITY, now)
            .await?;
        let enrol = |user: &User, change: &mut Transaction| {
            if !session.is_alive(user, now) {
                return Err(ApiError::invalid_token());
            }
            let after = user.changed(|user| {
                user.is_otp_enabled = true;
                user.is_otp_verified = true;
                user.epoch += 1;
            });
            let kept_session = self.sessions.renewed(&session, &after, Method::Otp, now);
            change.end_enrolment(user.user_id, enrolment);
            change.set_otp(user.user_id, kept, self.sealer.kid());
            change.keep_session(&session, &kept_session);
            change.send(&self.post.tell(user, News::OtpEnabled { at: now }, now)?);
            Ok(after)
        };
        let user = self.store.update_user(user, enrol, refused).await?;
        let renewed = self.sessions.renewed(&session, &user, Method::Otp, now);
        let arrival = Arrival {
            user,
            committee,
            activity,
            enrolment: None,
        };
        self.sessions.show_fresh(arrival, &renewed, now)
    }
}
