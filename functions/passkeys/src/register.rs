//! `POST /passkeys/registration-options`: begins the registration of a passkey. `POST /passkeys`: completes it.

use accounts::attempts;
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, ErrorCode, Input, Message, Now, SignedIn, Verified, input, ok,
    success, text,
};
use domain::{
    Instant, Line, PasskeyId, SessionId, ValueError,
    outbox::AccountEvent,
    passkey::{Challenge, Credential, MAX, Passkey},
    session::Session,
    user::User,
};
use identity::{passkeys::Ceremony, random};
use serde::Serialize;
use serde_json::Value;
use store::{CommitOutcome, Part, Reservation, Transaction};

use crate::{PasskeyResponse, Passkeys, Recent, credential};

/// The name of a passkey whose owner gives none.
const DEFAULT_NAME: &str = "Clé d’accès";

#[derive(Serialize)]
pub(crate) struct RegistrationOptionsResponse {
    options: Value,
}

/// The challenge belongs to the session, and replaces an earlier one of it.
pub(crate) async fn options(
    State(passkeys): State<Passkeys>,
    Now(now): Now,
    _: Verified,
    Recent(person): Recent,
) -> ApiResult<RegistrationOptionsResponse> {
    let (store, user) = (&passkeys.store, &person.user);
    if user.passkeys >= MAX {
        return Err(ErrorCode::PasskeysLimit.into());
    }
    let stored = store.passkeys(user.user_id).await?.into_iter();
    let (present, others): (Vec<Passkey>, Vec<Passkey>) =
        stored.partition(|passkey| passkey.is_of(user));
    let Ceremony { challenge, options } = passkeys.party.begin_registration(user, &present);
    // Since the account was read, the series may have risen, and a passkey of the new one been added.
    let removed: Vec<Passkey> =
        others.into_iter().filter(|passkey| passkey.series < user.passkey_series).collect();
    let challenge = Challenge::new(challenge, user.epoch, now);
    let (stored, deleted) = tokio::join!(
        store.put_challenge(person.session.sid, &challenge),
        store.delete_passkeys(&removed)
    );
    stored?;
    deleted?;
    ok(RegistrationOptionsResponse { options })
}

input! {
    pub(crate) struct RegisterRequest {
        credential: Value = required("credential", credential),
        name: Option<Line<64>> = optional("name", text),
    }
}

/// Uses up the challenge, adds the passkey and notifies the owner in one transaction.
pub(crate) async fn register(
    State(passkeys): State<Passkeys>,
    Now(now): Now,
    _: Verified,
    Recent(person): Recent,
    client: Client,
    Input(request): Input<RegisterRequest>,
) -> ApiResult<PasskeyResponse> {
    let SignedIn { user, session, .. } = person;
    let challenge = passkeys.store.challenge(session.sid).await?;
    let challenge = challenge.filter(|challenge| challenge.is_valid(user.epoch, now));
    let challenge = challenge.ok_or(ErrorCode::PasskeyInvalid)?;
    let registered = passkeys.party.finish_registration(&challenge.ceremony, &request.credential);
    let registered = registered.ok_or(ErrorCode::PasskeyInvalid)?;
    let mut passkey = new_passkey(&user, request.name, registered, now)?;
    let sid = session.sid;
    let decide = |user: &User, _: &Session, tx: &mut Transaction| {
        // The session may have been renewed since, but its challenge ends with the epoch.
        if !challenge.is_valid(user.epoch, now) {
            return Err(ErrorCode::PasskeyInvalid.into());
        }
        if !user.is_verified {
            return Err(ErrorCode::AccountNotVerified.into());
        }
        if user.passkeys >= MAX {
            return Err(ErrorCode::PasskeysLimit.into());
        }
        passkey.series = user.passkey_series;
        tx.use_challenge(sid, &challenge);
        tx.add_passkey(&passkey, user.committee_id);
        tx.send(&passkeys.outbox.notify(user, AccountEvent::PasskeyAdded, now)?);
        Ok(user.changed(|user| user.passkeys += 1))
    };
    let condition_error = |part| match part {
        Part::Passkey => ErrorCode::PasskeyAlreadyRegistered.into(),
        // The account was deleted, or the session has ended.
        Part::User | Part::Session => ApiError::invalid_token(),
        _ => ErrorCode::PasskeyInvalid.into(),
    };
    let (store, id) = (&passkeys.store, user.user_id);
    let added = store.update_own(user, session, now, decide, condition_error);
    let counters = attempts::of_change("passkeyAdded", id);
    if let Err(error) = attempts::counted(store, &counters, now, added).await {
        if error.code() == ErrorCode::PasskeyAlreadyRegistered {
            passkeys.refuse(sid, &challenge, &passkey, &client, now).await?;
        }
        return Err(error);
    }
    success(Message::PasskeyCreated, passkey.into())
}

fn new_passkey(
    user: &User,
    name: Option<Line<64>>,
    credential: Credential,
    now: Instant,
) -> Result<Passkey, ApiError> {
    let default = || DEFAULT_NAME.parse().map_err(|_: ValueError| ErrorCode::Internal);
    Ok(Passkey {
        passkey_id: PasskeyId::new(random::id(now)),
        user_id: user.user_id,
        name: name.map_or_else(default, Ok)?,
        created_at: now,
        last_used_at: None,
        series: user.passkey_series,
        credential,
    })
}

impl Passkeys {
    /// Uses up the challenge of a registration whose credential an account has already. That of another account is
    /// counted like a wrong answer at sign-in, and its owner is notified.
    ///
    /// # Errors
    /// `TOO_MANY_ATTEMPTS_MESSAGE` after too many attempts of the network.
    async fn refuse(
        &self,
        session: SessionId,
        challenge: &Challenge,
        refused: &Passkey,
        client: &Client,
        now: Instant,
    ) -> Result<(), ApiError> {
        let mut tx = self.store.transaction();
        tx.use_challenge(session, challenge);
        let mut counted = None;
        let credential = &refused.credential.credential_id;
        let owner = self.store.passkey_owner(credential).await?;
        if let Some(owner) = owner.filter(|owner| owner.user_id != refused.user_id) {
            // The attempts stay counted.
            let counters = attempts::of_passkey(client).unless_known;
            let _ = self.store.reserve(&counters, now).await?;
            let counters = attempts::of_change("passkeyRegistrationRefused", owner.user_id);
            counted = Reservation::unless_full(self.store.reserve(&counters, now).await)?;
            let owner = self.store.user(owner.user_id).await?;
            if let Some(owner) = owner.filter(|_| counted.is_some()) {
                tx.send(&self.outbox.notify(
                    &owner,
                    AccountEvent::PasskeyRegistrationRefused,
                    now,
                )?);
            }
        }
        // When the challenge was used in the meantime, the owner was notified then.
        if tx.commit().await? != CommitOutcome::Committed
            && let Some(counted) = counted
        {
            let _ = self.store.release(counted).await;
        }
        Ok(())
    }
}
