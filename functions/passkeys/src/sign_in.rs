//! `POST /auth/passkey/options`: begins a sign-in with a passkey. `POST /auth/passkey`: completes it.

use accounts::{
    AccountContext,
    attempts::{self, Attempt, Failed},
};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, ErrorCode, Input, Message, Now, input, ok, secret, success,
};
use domain::{
    CommitteeId, Instant, PasskeyId, SessionId, UserId,
    amr::Method,
    outbox::AccountEvent,
    passkey::{Challenge, Passkey},
    user::OwnAccount,
};
use identity::{
    passkeys::{Assertion, Ceremony, Verified},
    random,
};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::Value;
use store::{CommitOutcome, Part, PasskeyOwner, Reservation, StoreError};

use crate::{Passkeys, credential};

#[derive(Serialize)]
pub(crate) struct SignInOptionsResponse {
    options: Value,
    token: String,
}

/// Names no account: the authenticator shows the passkeys that it has.
pub(crate) async fn options(
    State(passkeys): State<Passkeys>,
    Now(now): Now,
) -> ApiResult<SignInOptionsResponse> {
    let Ceremony { challenge, options } = passkeys.party.begin_sign_in();
    let id = SessionId::new(random::id(now));
    let challenge = Challenge::new(challenge, 0, now);
    passkeys.store.put_challenge(id, &challenge).await?;
    ok(SignInOptionsResponse { options, token: passkeys.sessions.passkey_step(id, now)? })
}

input! {
    pub(crate) struct SignInRequest {
        credential: Value = required("credential", credential),
        token: SecretString = required("token", secret),
    }
}

#[derive(Serialize)]
pub(crate) struct SignInResponse {
    user: Box<OwnAccount>,
}

/// Everything about a sign-in whose answer has a valid signature.
struct Answer {
    account: AccountContext,
    passkey: Passkey,
    challenge: Challenge,
    verified: Verified,
}

/// Makes the same reads for known and unknown credentials, and gives the same error for all that is wrong. The passkey
/// is both factors, so no one-time password is asked for.
pub(crate) async fn sign_in(
    State(passkeys): State<Passkeys>,
    Now(now): Now,
    client: Client,
    Input(request): Input<SignInRequest>,
) -> ApiResult<SignInResponse> {
    let assertion = Assertion::parse(&request.credential);
    let owner = passkeys.owner_of(assertion.as_ref()).await?;
    let token = request.token.expose_secret();
    let id = passkeys.sessions.challenge_of(token, now).unwrap_or(SessionId::NONE);
    let counters = attempts::of_passkey(&client);
    let read = passkeys.store.account_with_passkey(&owner, id);
    let (attempt, found) = tokio::join!(
        Attempt::begin(&passkeys.store, &counters, owner.user_id, &client, now),
        passkeys.sessions.find_with(owner.user_id, owner.committee_id, read, now)
    );
    let mut attempt = attempt?;
    let signed_in = async {
        let (account, (passkey, challenge)) = found?;
        let answer = passkeys.verify(account, passkey, challenge, assertion.as_ref(), now)?;
        let answer = answer.ok_or(Failed::Wrong(ErrorCode::BadAuthCombination))?;
        passkeys.begin(answer, owner, id, &mut attempt).await
    };
    let signed_in = signed_in.await;
    let user = attempt.end(signed_in).await?;
    let token = user.token().to_owned();
    let response = SignInResponse { user: Box::new(user) };
    success(Message::LoginSuccess, response).map(|response| response.authorized(&token))
}

impl Passkeys {
    /// The owner of the credential in `assertion`; when there is none, the identifiers of no account.
    async fn owner_of(&self, assertion: Option<&Assertion>) -> Result<PasskeyOwner, StoreError> {
        let owner = match assertion {
            Some(assertion) => self.store.passkey_owner(assertion.credential_id()).await?,
            None => None,
        };
        Ok(owner.unwrap_or(PasskeyOwner {
            user_id: UserId::NONE,
            committee_id: CommitteeId::NONE,
            passkey_id: PasskeyId::NONE,
        }))
    }

    /// Verifies `assertion`. `None` when it is wrong, its challenge was used or has expired, or its account is inactive
    /// or has removed the passkey.
    fn verify(
        &self,
        account: Option<AccountContext>,
        passkey: Option<Passkey>,
        challenge: Option<Challenge>,
        assertion: Option<&Assertion>,
        now: Instant,
    ) -> Result<Option<Answer>, ApiError> {
        let account = account.filter(|account| account.user.is_active);
        let challenge = challenge.filter(|challenge| challenge.is_valid(0, now));
        let (Some(account), Some(passkey), Some(challenge), Some(assertion)) =
            (account, passkey, challenge, assertion)
        else {
            return Ok(None);
        };
        if !passkey.is_of(&account.user) {
            return Ok(None);
        }
        let verified = self.party.verify(&challenge.ceremony, assertion, &passkey)?;
        Ok((verified != Verified::No).then_some(Answer { account, passkey, challenge, verified }))
    }

    /// Uses up the challenge `id` and starts a session, unless the signature counter did not rise.
    ///
    /// # Errors
    /// [`Failed::Wrong`] when the counter did not rise, or the challenge or the passkey was used or removed in the
    /// meantime.
    async fn begin(
        &self,
        answer: Answer,
        owner: PasskeyOwner,
        id: SessionId,
        attempt: &mut Attempt<'_>,
    ) -> Result<OwnAccount, Failed> {
        let now = attempt.now;
        let Answer { account, passkey, challenge, verified } = answer;
        let wrong = Failed::Wrong(ErrorCode::BadAuthCombination);
        let Verified::Yes(credential) = &verified else {
            self.report(&passkey, id, &challenge, now).await?;
            return Err(wrong);
        };
        let mut tx = self.store.transaction();
        tx.use_challenge(id, &challenge);
        tx.use_passkey(&passkey, credential, now);
        let committee = account.user.committee_id;
        if owner.committee_id != committee {
            tx.update_passkey_committee(&passkey, committee);
        }
        let amr = vec![Method::Pop, Method::Mfa];
        match self.sessions.begin(account, amr, tx, attempt).await {
            Err(Failed::Conflict(part)) => {
                // An authenticator and a copy of it that sign in at the same moment have the same counter.
                if part == Part::Passkey {
                    self.report(&passkey, id, &challenge, now).await?;
                }
                Err(wrong)
            }
            begun => begun,
        }
    }

    /// Notifies the owner of `passkey` that its signature counter did not rise, once for each challenge, unless it was
    /// removed in the meantime.
    async fn report(
        &self,
        passkey: &Passkey,
        id: SessionId,
        challenge: &Challenge,
        now: Instant,
    ) -> Result<(), ApiError> {
        let (user, stored) = tokio::try_join!(
            self.store.user(passkey.user_id),
            self.store.passkey(passkey.user_id, passkey.passkey_id)
        )?;
        let (Some(user), Some(stored)) = (user, stored) else {
            return Ok(());
        };
        // The notifications are counted, so that the holder of a copy cannot flood the mailbox. The sign-in fails in any case.
        let counters = attempts::of_change("passkeyRefused", user.user_id);
        if stored.is_of(&user)
            && let Some(counted) =
                Reservation::unless_full(self.store.reserve(&counters, now).await)?
        {
            let mut tx = self.store.transaction();
            tx.use_challenge(id, challenge);
            tx.send(&self.outbox.notify(&user, AccountEvent::PasskeyRefused, now)?);
            // When the challenge was used in the meantime, the owner was notified then.
            if tx.commit().await? != CommitOutcome::Committed {
                let _ = self.store.release(counted).await;
            }
        }
        Ok(())
    }
}
