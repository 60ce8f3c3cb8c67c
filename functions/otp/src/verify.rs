//! `POST /otp/verify`: completes a sign-in, or enables one-time passwords with the first code of a new secret.

use accounts::{
    AccountContext,
    attempts::{self, Attempt, Failed},
};
use axum::extract::{FromRequestParts, State};
use common::{
    ApiError, ApiResult, Client, ErrorCode, Fields, FromFields, Input, InvalidField, Message, Now,
    SignedIn, Verified, success,
};
use domain::{
    Instant,
    amr::Method,
    limits,
    otp::{Enrolment, Otp as StoredOtp, Proof},
    outbox::AccountEvent,
    session::Session,
    user::{OwnAccount, User},
};
use http::request::Parts;
use identity::{
    token::{Claims, TokenUse},
    totp::{self, Secret},
};
use serde::Serialize;
use store::{Counter, Part, Transaction};

use crate::{Otp, SubmittedCode, code, condition_error, invalid, new_recovery};

/// The caller: a person with a pending token, who is signing in, or a signed-in and verified person who authenticated in
/// the last ten minutes, who is enrolling.
pub(crate) enum OtpCaller {
    SigningIn(Box<Claims>),
    Enrolling(Box<SignedIn>),
}

impl FromRequestParts<Otp> for OtpCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, otp: &Otp) -> Result<Self, ApiError> {
        let Ok(Now(now)) = Now::from_request_parts(parts, otp).await;
        match otp.sessions.claims(&parts.headers, TokenUse::OtpStep, now) {
            Some(claims) => Ok(Self::SigningIn(Box::new(claims))),
            None => {
                let Verified(person) = Verified::from_request_parts(parts, otp).await?;
                person.require_recent(now)?;
                Ok(Self::Enrolling(Box::new(person)))
            }
        }
    }
}

/// The code of a sign-in or of a new secret, and to replace a secret also one of the present secret.
pub(crate) struct VerifyOtpRequest {
    code: SubmittedCode,
    current: Option<SubmittedCode>,
}

impl<S> FromFields<S> for VerifyOtpRequest {
    fn from_fields(fields: &mut Fields, _: &S) -> Result<Self, InvalidField> {
        let current = if fields.has("currentCode") {
            fields.required("currentCode", code).map(SubmittedCode::Code).map(Some)
        } else if fields.has("code") && fields.has("recoveryCode") {
            fields.required("recoveryCode", code).map(SubmittedCode::Recovery).map(Some)
        } else {
            Ok(None)
        };
        let code = SubmittedCode::read(fields);
        Ok(Self { code: code?, current: current? })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VerifyOtpResponse {
    user: OwnAccount,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery_codes: Option<Vec<String>>,
}

pub(crate) async fn verify(
    State(otp): State<Otp>,
    Now(now): Now,
    client: Client,
    caller: OtpCaller,
    request: Result<Input<VerifyOtpRequest>, ApiError>,
) -> ApiResult<VerifyOtpResponse> {
    let verified = match (caller, request) {
        (OtpCaller::SigningIn(claims), Ok(Input(request))) => {
            otp.sign_in(*claims, &request.code, &client, now).await?
        }
        (OtpCaller::Enrolling(person), Ok(Input(request))) => {
            otp.enrol(*person, &request, &client, now).await?
        }
        // The error for an unusable pending token takes precedence over invalid fields.
        (OtpCaller::SigningIn(claims), Err(error)) => {
            otp.find_pending(&claims, now).await?.ok_or_else(ApiError::invalid_token)?;
            return Err(error);
        }
        (OtpCaller::Enrolling(_), Err(error)) => return Err(error),
    };
    let token = verified.user.token().to_owned();
    success(Message::OtpVerified, verified).map(|response| response.authorized(&token))
}

impl Otp {
    /// Uses the code and the pending token and starts the session in one transaction, so that exactly one of several
    /// concurrent requests succeeds.
    async fn sign_in(
        &self,
        claims: Claims,
        code: &SubmittedCode,
        client: &Client,
        now: Instant,
    ) -> Result<VerifyOtpResponse, ApiError> {
        let counters = code.counters(claims.sub, &claims.sid.to_string(), client);
        let (attempt, found) = tokio::join!(
            Attempt::begin(&self.store, &counters, claims.sub, client, now),
            self.find_pending(&claims, now)
        );
        let found = found.and_then(|found| found.ok_or_else(ApiError::invalid_token));
        let mut attempt = match attempt {
            Ok(attempt) => attempt,
            // The error for an unusable pending token takes precedence over a full counter.
            Err(error) => return Err(found.err().unwrap_or(error)),
        };
        let signed_in = async {
            let (account, stored) = found?;
            let (stored, proof) = code.verify(self, claims.sub, stored, now)?;
            let tx = self.completion(&account.user, &claims, &stored, &proof, now)?;
            let method = match proof {
                Proof::Step(_) => Method::Otp,
                Proof::Recovery(_) => Method::Recovery,
            };
            let amr = claims.amr.iter().copied().chain([method]).collect();
            let begun = self.sessions.begin(account, amr, tx, &mut attempt).await;
            begun.map_err(|failed| match failed {
                Failed::Conflict(Part::Step) => ApiError::invalid_token().into(),
                Failed::Conflict(_) => invalid().into(),
                failed => failed,
            })
        };
        let signed_in = signed_in.await;
        let user = attempt.end(signed_in).await?;
        Ok(VerifyOtpResponse { user, recovery_codes: None })
    }

    /// The account of the pending token `claims` with its secret; `None` when the token was used, or since it was signed
    /// the account was deactivated, disabled its one-time passwords, or ended all its sessions.
    async fn find_pending(
        &self,
        claims: &Claims,
        now: Instant,
    ) -> Result<Option<(AccountContext, Option<StoredOtp>)>, ApiError> {
        let (id, committee) = (claims.sub, claims.cid);
        let read = self.store.account_at_step(id, committee, claims.sid);
        let found = self.sessions.find_with(id, committee, read, now);
        let (account, (stored, is_done)) = found.await?;
        let is_open =
            |user: &User| user.is_active && user.is_otp_enabled && Some(user.epoch) == claims.epoch;
        let account = account.filter(|account| !is_done && is_open(&account.user));
        Ok(account.map(|account| (account, stored)))
    }

    /// The writes that complete the sign-in step of `claims` with `proof`. A recovery code is reported to the owner.
    fn completion(
        &self,
        user: &User,
        claims: &Claims,
        stored: &StoredOtp,
        proof: &Proof,
        now: Instant,
    ) -> Result<Transaction, ApiError> {
        let mut tx = self.store.transaction();
        tx.complete_step(claims.sid, now);
        tx.use_proof(claims.sub, proof);
        if let Proof::Recovery(_) = proof {
            let left = stored.recovery.len().saturating_sub(1);
            let event = AccountEvent::RecoveryCodeUsed { left };
            tx.send(&self.outbox.notify(user, event, now)?);
        }
        Ok(tx)
    }

    /// Enables one-time passwords with the pending secret, ends all other sessions, and notifies the owner. A secret that
    /// is in force is replaced with one of its codes: who has a session alone cannot replace it.
    async fn enrol(
        &self,
        person: SignedIn,
        request: &VerifyOtpRequest,
        client: &Client,
        now: Instant,
    ) -> Result<VerifyOtpResponse, ApiError> {
        if !person.user.is_otp_enabled {
            return self.confirm(person, &request.code, now).await;
        }
        let current = request.current.as_ref();
        let current =
            current.ok_or_else(|| ApiError::field("currentCode", ErrorCode::FieldRequired))?;
        let (user, session) = (person.user.user_id, person.session.sid);
        // The new secret takes the place of the present one, so this code needs not be used up.
        let (_, attempt) = self.verify_code(user, session, current, client, now).await?;
        attempt.end_with(self.confirm(person, &request.code, now)).await
    }

    /// Confirms the pending secret of the session of `person` with `code`.
    async fn confirm(
        &self,
        person: SignedIn,
        code: &SubmittedCode,
        now: Instant,
    ) -> Result<VerifyOtpResponse, ApiError> {
        let (id, SubmittedCode::Code(code)) = (person.user.user_id, code) else {
            return Err(invalid());
        };
        let enrolment = self
            .store
            .enrolment(id)
            .await?
            .filter(|enrolment| enrolment.is_valid(&person.session, now))
            .ok_or_else(invalid)?;
        let secret = Secret::open(&enrolment.sealed, &self.sealer, &totp::pending_context(id))?;
        let Some(step) = secret.step_of(code.as_str(), now, 0) else {
            self.store.count_failed_enrolment(id, &enrolment).await?;
            return Err(invalid());
        };
        let (recovery_codes, recovery) = new_recovery(&secret);
        let stored = StoredOtp {
            sealed: secret.seal(&self.sealer, &totp::active_context(id))?,
            last_step: step,
            recovery,
        };
        let enabled = self.enable(person, &enrolment, &stored, now);
        let counters = [Counter::of(limits::ENDING_CODES, id)];
        let user = attempts::counted(&self.store, &counters, now, enabled).await?;
        Ok(VerifyOtpResponse { user, recovery_codes: Some(recovery_codes) })
    }

    async fn enable(
        &self,
        person: SignedIn,
        enrolment: &Enrolment,
        stored: &StoredOtp,
        now: Instant,
    ) -> Result<OwnAccount, ApiError> {
        let SignedIn { user, committee, session, .. } = person;
        let activity = self.store.login_activity(user.user_id, OwnAccount::ACTIVITY, now).await?;
        let decide = |user: &User, session: &Session, tx: &mut Transaction| {
            // The session may have been renewed since, but its enrolment ends with the epoch.
            if !enrolment.is_valid(session, now) {
                return Err(invalid());
            }
            let after = user.changed(|user| {
                user.is_otp_enabled = true;
                user.is_otp_verified = true;
                user.epoch += 1;
            });
            let renewed_session = self.sessions.renewed(session, &after, Method::Otp);
            tx.complete_enrolment(user.user_id, enrolment);
            tx.set_otp(user.user_id, stored, self.sealer.kid());
            tx.renew_session(session, &renewed_session);
            let event = if user.is_otp_enabled {
                AccountEvent::OtpReplaced
            } else {
                AccountEvent::OtpEnabled
            };
            tx.send(&self.outbox.notify(user, event, now)?);
            Ok(after)
        };
        let (user, session) =
            self.store.update_own(user, session, now, decide, condition_error).await?;
        let renewed = self.sessions.renewed(&session, &user, Method::Otp);
        self.sessions.account_of_session(user, committee, activity, &renewed, now)
    }
}
