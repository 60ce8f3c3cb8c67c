//! `POST /auth/login`: signs in with address and password.

use accounts::{AccountContext, attempts};
use axum::extract::State;
use common::{ApiError, ApiResult, Client, ErrorCode, Input, Now, input, secret, text};
use domain::{CommitteeId, Email, UserId, amr::Method};
use identity::password::Match;
use secrecy::SecretString;
use store::{Credentials, EmailOwner, Part, StoreError, Transaction};

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

/// Runs Argon2id once, or twice if the password is changed meanwhile, and makes the same reads for known and unknown
/// addresses, so that neither the response nor its time reveals who has an account.
pub(crate) async fn login(
    State(auth): State<Auth>,
    Now(now): Now,
    client: Client,
    Input(login): Input<LoginRequest>,
) -> ApiResult<SignIn> {
    let owner = auth.store.email_owner(&login.email).await;
    // The identifiers of no account.
    let no_owner = EmailOwner { user_id: UserId::NONE, committee_id: CommitteeId::NONE };
    let EmailOwner { user_id: id, committee_id } = owner?.unwrap_or(no_owner);
    let find = || {
        let read = auth.store.account_with_credentials(id, committee_id);
        auth.sessions.find_with(id, committee_id, read, now)
    };
    let counters = attempts::of_password(&login.email, &client);
    let (reserved, found) =
        tokio::join!(attempts::reserve_at(&auth.store, &counters, id, &client, now), find());
    let (mut reserved, mut found) = (reserved?, found);
    let mut tries = 2;
    loop {
        let outcome = async {
            let (account, credentials) = found?;
            // Address and account change in one transaction: an account with another address has just given up this one.
            let account = account.filter(|account| account.user.email == login.email);
            verify(&auth, account, credentials, &login.password).await
        };
        let (account, tx);
        ((account, tx), reserved) =
            attempts::record_outcome(&auth.store, reserved, outcome.await).await?;
        let signed_in = sign_in(&auth, account, Method::Pwd, &client, now, tx, &mut reserved).await;
        tries -= 1;
        // The password or its hash was changed while this password was verified, so it is verified again.
        if tries > 0 && matches!(signed_in, Ok(Err(Part::Credentials))) {
            found = find().await;
            continue;
        }
        // After a success nothing is left.
        let _ = auth.store.release(reserved).await;
        return signed_in?.map_err(conflict);
    }
}

fn conflict(part: Part) -> ApiError {
    match part {
        Part::Credentials => StoreError::TransactionConflict.into(),
        _ => ErrorCode::BadAuthCombination.into(),
    }
}

/// The account, if `password` is correct and the account active, and a transaction that fails if the password has been
/// changed since `credentials` were read: an old password starts no session, even if `account` was read later than they.
/// The transaction also replaces a hash with outdated parameters.
async fn verify(
    auth: &Auth,
    account: Option<AccountContext>,
    credentials: Option<Credentials>,
    password: &SecretString,
) -> Result<Option<(AccountContext, Transaction)>, ApiError> {
    let hash = credentials.map(|credentials| credentials.password_hash);
    let matched = auth.hasher.matches(password, hash.as_deref()).await?;
    let (Some(account), Some(hash)) = (account.filter(|account| account.user.is_active), hash)
    else {
        return Ok(None);
    };
    let mut tx = auth.store.transaction();
    match matched {
        Match::No => return Ok(None),
        Match::Yes => tx.require_password(account.user.user_id, &hash),
        Match::YesOutdated => match auth.hasher.hash(password).await {
            Ok(new_hash) => tx.change_password(account.user.user_id, Some(&hash), &new_hash),
            Err(failure) => {
                tracing::warn!(%failure, "the password hash was not upgraded");
                tx.require_password(account.user.user_id, &hash);
            }
        },
    }
    Ok(Some((account, tx)))
}
