//! `POST /auth/login`: signs in with address and password.

use accounts::{AccountContext, attempts};
use axum::extract::State;
use common::{ApiError, ApiResult, Client, Input, Now, input, secret, text};
use domain::{CommitteeId, Email, Instant, UserId, session::Method};
use identity::password::Match;
use secrecy::SecretString;
use store::{Credentials, EmailOwner};

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

/// Runs Argon2id once and makes the same reads for known and unknown addresses, so that neither the response nor its
/// time reveals who has an account.
pub(crate) async fn login(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    Input(login): Input<LoginRequest>,
) -> ApiResult<SignIn> {
    let counters = attempts::of_password(&login.email, &client);
    let (reserved, found) = tokio::join!(
        attempts::reserve(&auth.store, &counters, now),
        find(&auth, &login.email, now)
    );
    let (reserved, outcome) = (reserved?, async {
        verify(&auth, found?, &login.password).await
    });
    let (account, reserved) =
        attempts::record_outcome(&auth.store, reserved, outcome.await).await?;
    let signed_in = sign_in(
        &auth,
        account,
        Method::Pwd,
        &client,
        now,
        auth.store.transaction(),
    );
    let (signed_in, _) = tokio::join!(signed_in, auth.store.release(reserved));
    signed_in
}

/// The account, if `password` is correct and the account active.
async fn verify(
    auth: &Auth,
    found: Found,
    password: &SecretString,
) -> Result<Option<AccountContext>, ApiError> {
    let hash = found
        .credentials
        .as_ref()
        .map(|credentials| credentials.password_hash.as_str());
    let matched = auth.hasher.matches(password, hash).await?;
    let (Some(account), Some(hash)) =
        (found.account.filter(|account| account.user.is_active), hash)
    else {
        return Ok(None);
    };
    match matched {
        Match::No => return Ok(None),
        Match::Yes => {}
        Match::YesOutdated => rehash(auth, account.user.user_id, hash, password).await,
    }
    Ok(Some(account))
}

/// Replaces `old_hash` by a hash of the same password with the current parameters. If that fails, the next sign-in
/// tries again; this one continues, because the password is correct.
async fn rehash(auth: &Auth, user: UserId, old_hash: &str, password: &SecretString) {
    let rehashed = async {
        let new_hash = auth.hasher.hash(password).await?;
        auth.store.rehash(user, old_hash, &new_hash).await?;
        Ok::<(), runtime::Error>(())
    };
    if let Err(failure) = rehashed.await {
        tracing::warn!(%failure, "the password hash was not upgraded");
    }
}

struct Found {
    account: Option<AccountContext>,
    credentials: Option<Credentials>,
}

/// Loads the account with `email`. For an unknown address it makes the same reads with identifiers that do not exist.
async fn find(auth: &Auth, email: &Email, now: Instant) -> Result<Found, ApiError> {
    let no_owner = EmailOwner {
        user_id: UserId::in_path(""),
        committee_id: CommitteeId::in_path(""),
    };
    let owner = auth.store.email_owner(email).await?.unwrap_or(no_owner);
    let (account, credentials) = tokio::join!(
        auth.sessions.find(owner.user_id, owner.committee_id, now),
        auth.store.credentials(owner.user_id)
    );
    // Address and account change in one transaction: an account with another address has just given up this one.
    Ok(Found {
        account: account?.filter(|account| account.user.email == *email),
        credentials: credentials?,
    })
}
