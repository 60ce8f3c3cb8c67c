//! `POST /auth/login`: signs in with address and password.

use accounts::{
    AccountContext,
    attempts::{self, Attempt, Failed},
};
use axum::extract::State;
use common::{ApiResponse, ApiResult, Client, ErrorCode, Input, Now, input, secret, text};
use domain::{CommitteeId, Email, UserId, amr::Method};
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

/// Runs Argon2id once and makes the same reads for known and unknown addresses, so that neither the response nor its time
/// reveals who has an account.
pub(crate) async fn login(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    Input(login): Input<LoginRequest>,
) -> ApiResult<SignIn> {
    let owner = auth.store.email_owner(&login.email).await?;
    let nobody = EmailOwner { user_id: UserId::NONE, committee_id: CommitteeId::NONE };
    let EmailOwner { user_id: id, committee_id } = owner.unwrap_or(nobody);
    let counters = attempts::of_password(&login.email, &client);
    let read = auth.store.account_with_credentials(id, committee_id);
    let (attempt, found) = tokio::join!(
        Attempt::begin(&auth.store, &counters, id, &client, now),
        auth.sessions.find_with(id, committee_id, read, now)
    );
    let mut attempt = attempt?;
    let signed_in = match found {
        Ok((account, credentials)) => login.verify(&auth, account, credentials, &mut attempt).await,
        Err(error) => Err(error.into()),
    };
    attempt.end(signed_in).await
}

impl LoginRequest {
    /// Signs in to `account`, if it has this address and `credentials` this password.
    async fn verify(
        &self,
        auth: &Auth,
        account: Option<AccountContext>,
        credentials: Option<Credentials>,
        attempt: &mut Attempt<'_>,
    ) -> Result<ApiResponse<SignIn>, Failed> {
        let wrong = Failed::Wrong(ErrorCode::BadAuthCombination);
        // Address and account change in one transaction: an account with another address has just given up this one.
        let account =
            account.filter(|account| account.user.email == self.email && account.user.is_active);
        let hash = credentials.map(|credentials| credentials.password_hash);
        let is_right = auth.hasher.matches(&self.password, hash.as_deref()).await?;
        let (Some(account), Some(hash), true) = (account, hash, is_right) else {
            return Err(wrong);
        };
        let mut tx = auth.store.transaction();
        tx.require_password(account.user.user_id, &hash);
        match sign_in(auth, account, Method::Pwd, tx, attempt).await {
            // The password was changed since it was read, so this one is wrong by now.
            Err(Failed::Conflict(Part::Credentials)) => Err(wrong),
            signed_in => signed_in,
        }
    }
}
