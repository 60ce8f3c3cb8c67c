//! `POST /auth/login`: signs in with address and password.

use accounts::{
    AccountContext,
    attempts::{self, Attempt, Failed},
};
use axum::extract::State;
use common::{
    ApiError, ApiResponse, ApiResult, Client, ErrorCode, Input, Now, input, secret, text,
};
use domain::{CommitteeId, Email, UserId, amr::Method};
use identity::password::Match;
use secrecy::SecretString;
use store::{Credentials, EmailOwner, Part};

use crate::{
    Auth,
    sign_in::{SignIn, sign_in},
};

input! {
    pub(crate) struct LoginRequest {
        email: Email = required("email", text),
        password: SecretString = required("password", secret),
    }
}

/// An account, if there is one, and its password.
type Found = Result<(Option<AccountContext>, Option<Credentials>), ApiError>;

/// Runs Argon2id once, or twice if the password is changed meanwhile, and makes the same reads for known and unknown
/// addresses, so that neither the response nor its time reveals who has an account.
pub(crate) async fn login(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    Input(login): Input<LoginRequest>,
) -> ApiResult<SignIn> {
    let owner = auth.store.email_owner(&login.email).await?;
    let no_account = EmailOwner { user_id: UserId::NONE, committee_id: CommitteeId::NONE };
    let EmailOwner { user_id: id, committee_id } = owner.unwrap_or(no_account);
    let find = || {
        let read = auth.store.account_with_credentials(id, committee_id);
        auth.sessions.find_with(id, committee_id, read, now)
    };
    let counters = attempts::of_password(&login.email, &client);
    let (attempt, found) =
        tokio::join!(Attempt::begin(&auth.store, &counters, id, &client, now), find());
    let mut attempt = attempt?;
    let mut signed_in = login.verify(&auth, found, &mut attempt).await;
    if matches!(signed_in, Err(Failed::Conflict(Part::Credentials))) {
        // The password or its hash was changed since it was read.
        signed_in = login.verify(&auth, find().await, &mut attempt).await;
    }
    attempt.end(signed_in).await
}

impl LoginRequest {
    /// Signs in to the account in `found`, if it has this address and this password.
    async fn verify(
        &self,
        auth: &Auth,
        found: Found,
        attempt: &mut Attempt<'_>,
    ) -> Result<ApiResponse<SignIn>, Failed> {
        let (account, credentials) = found?;
        // Address and account change in one transaction: an account with another address has just given up this one.
        let account =
            account.filter(|account| account.user.email == self.email && account.user.is_active);
        let hash = credentials.map(|credentials| credentials.password_hash);
        let matched = auth.hasher.matches(&self.password, hash.as_deref()).await?;
        let (Some(account), Some(hash), true) = (account, hash, matched != Match::No) else {
            return Err(Failed::Wrong(ErrorCode::BadAuthCombination));
        };
        let mut tx = auth.store.transaction();
        // A hash with outdated parameters is replaced.
        let new_hash = if matched == Match::YesOutdated {
            let hashed = auth.hasher.hash(&self.password).await;
            let hashed = hashed.inspect_err(
                |failure| tracing::warn!(%failure, "the password hash was not upgraded"),
            );
            hashed.ok()
        } else {
            None
        };
        // Either condition fails if the password has changed, so that an old one starts no session.
        let id = account.user.user_id;
        match new_hash {
            Some(new_hash) => tx.change_password(id, Some(&hash), &new_hash),
            None => tx.require_password(id, &hash),
        }
        sign_in(auth, account, Method::Pwd, tx, attempt).await
    }
}
